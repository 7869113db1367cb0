"""What would mend a group of rejected records, as far as their reason and their JSON say it. Pure; nothing is guessed.

A proposal is a command to be tried with `--dry-run`: whoever knows the sender decides.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from penstock.lake.correcting import CASTS
from penstock.lake.rejected import Group
from penstock.model.source import Source

# Types of fields -> what their text can be cast to.
KINDS: Mapping[str, str] = {"bigint": "integer", "int": "integer", "double": "number", "boolean": "boolean"}
# What a field of another type may be sent as text of, such as a moment in milliseconds.
OTHERS = ("integer",)
# Two names are alike when so much of them is the same, or one is a word of the other.
ALIKE = 0.75
SHORTEST = 3
# What records that only other code can read were rejected for.
UNREAD = ("malformed", "unknown_")


@dataclass(frozen=True)
class Proposal:
    """A command, or in words why there is none that could be proposed. `dag` is the operation that might mend them."""

    why: str
    command: str = ""
    dag: str = "repair"
    rename: Mapping[str, str] = field(default_factory=dict)
    cast: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.why}: {self.command}" if self.command else self.why


def proposed(source: Source, group: Group) -> Proposal | None:
    """None of what no repair could mend: copies, times, what people retracted or erased."""
    kind, _, name = group.reason.partition("_")
    if group.reason.startswith(UNREAD):
        return _new_code(source)
    if kind == "missing" and name:
        return _renamed(source, group, name)
    # The engine says of times and ids what no sender's JSON can mend.
    return _cast(source, group, name) if kind == "bad" and name else None


def _renamed(source: Source, group: Group, name: str) -> Proposal:
    """A field that the source does not know, called nearly as the one that is missing."""
    known = {each.name for each in source.fields}
    alike = [each for each in _names(group.shape) if each not in known and _alike(each, name)]
    if len(alike) == 1:
        return _repair(source, group, f"{alike[0]} looks like {name}", rename={alike[0]: name})
    if alike:
        return Proposal(f"{' and '.join(alike)} both look like {name}: which one is it? Say so with --rename")
    return Proposal(f"no field looks like {name}; a default is yours to know: --default {name}=…, or --rename")


def _names(shape: str) -> list[str]:
    try:
        told = json.loads(shape)
    except ValueError:
        return []
    # Options cannot spell all names.
    return [name for name in told if not {*",="} & {*name}] if isinstance(told, dict) else []


def _alike(one: str, other: str) -> bool:
    if _plain(one) == _plain(other):
        return True
    if {_plain(other)} & _words(one) or {_plain(one)} & _words(other):
        return True
    return SequenceMatcher(None, _plain(one), _plain(other)).ratio() >= ALIKE


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(name: str) -> set[str]:
    """Of visitor_id, visitor-id or visitorId: visitor. Short ones are in too many names."""
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return {part.lower() for part in parts if len(part) >= SHORTEST}


def _cast(source: Source, group: Group, name: str) -> Proposal:
    """A field of another type than the source's, of which every example can be cast."""
    wanted = next((each.type for each in source.fields if each.name == name), "")
    said = [value for each in group.examples if (value := _value(each["raw"], name)) is not None]
    for kind in [KINDS[wanted]] if wanted in KINDS else [] if wanted == "string" else OTHERS:
        if said and all(_changes(kind, value) for value in said):
            return _repair(source, group, f"{name} is text that reads as {kind}", cast={name: kind})
    return Proposal(f"{name} says what no cast can read: correct the sender, or read it with new code")


def _value(raw: str | None, name: str) -> Any:
    try:
        event = json.loads(raw or "")
    except ValueError:
        return None
    return event.get(name) if isinstance(event, dict) else None


def _changes(kind: str, value: Any) -> bool:
    """Whether text can be cast. What has the right type already was refused for what it says."""
    try:
        CASTS[kind](value)
    except (ValueError, KeyError):
        return False
    return isinstance(value, str)


def _new_code(source: Source) -> Proposal:
    words = ["penstock", "replay", "--domain", source.domain, "--source", source.name, "--code", "…", "--why", "…"]
    return Proposal("only other code, or a newer schema, can read it", _line(words), "replay")


def _repair(
    source: Source, group: Group, why: str, rename: Mapping[str, str] = {}, cast: Mapping[str, str] = {}
) -> Proposal:
    parts: Iterable[tuple[str, Mapping[str, str]]] = (("--rename", rename), ("--cast", cast))
    said = [word for option, pairs in parts for old, new in pairs.items() for word in (option, f"{old}={new}")]
    words = ["penstock", "repair", "--source", source.name, "--reason", group.reason, *said, "--why", "…", "--dry-run"]
    return Proposal(why, _line(words), rename=rename, cast=cast)


def _line(words: Sequence[str]) -> str:
    """For a shell; what a person has to fill in stays as it is."""
    return " ".join(word if word == "…" else shlex.quote(word) for word in words)
