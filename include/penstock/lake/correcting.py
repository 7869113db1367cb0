"""What a repair does to the bytes of one record. Pure; whatever it cannot do leaves the record as it was."""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from penstock.lake.repairs import Repair


class BadRepair(ValueError):
    """A repair cannot be understood. Nothing was changed; the message says what there is."""


def _boolean(value: Any) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[str(value).strip().lower()]


CASTS: Mapping[str, Callable[[Any], Any]] = {
    "integer": lambda value: int(str(value).strip()),
    "number": lambda value: float(str(value).strip()),
    "string": lambda value: value if isinstance(value, str) else json.dumps(value),
    "boolean": _boolean,
}


def corrected(value: bytes, repair: Repair) -> bytes:
    """The record after the repair: renamed first, then cast, then given defaults."""
    try:
        event = json.loads(value)
    except ValueError:
        return value
    if not isinstance(event, dict):
        return value
    for old, new in repair.rename.items():
        if old in event and new not in event:
            event[new] = event.pop(old)
    for name, kind in repair.cast.items():
        if event.get(name) is not None:
            with suppress(ValueError, KeyError):
                event[name] = CASTS[kind](event[name])
    for name, default in repair.default.items():
        if event.get(name) is None:
            event[name] = default
    return json.dumps(event, ensure_ascii=False).encode()


def asked(rename: str, cast: str, default: str) -> tuple[dict[str, str], dict[str, str], dict[str, Any]]:
    """The three parts as a form has them: `old=new`, `field=type`, `field=value`, with commas."""
    renames, casts, defaults = (_pairs(text) for text in (rename, cast, default))
    if unknown := set(casts.values()) - set(CASTS):
        raise BadRepair(f"no type is called {', '.join(sorted(unknown))}; there are: {', '.join(CASTS)}")
    return renames, casts, {name: _value(text) for name, text in defaults.items()}


def named(
    operation: str,
    source: str,
    reason: str,
    rename: Mapping[str, str],
    cast: Mapping[str, str],
    default: Mapping[str, Any],
    of: str,
    by: str = "",
    why: str = "",
) -> Repair:
    """What an operator asks for, as a statement whose name follows from the operation's."""
    if not of and not (reason and (rename or cast or default)):
        raise BadRepair("a repair needs the reason of the rejected, and something to rename, cast or give a default")
    name = f"p{hashlib.sha256(operation.encode()).hexdigest()[:8]}"
    return Repair(name, source, reason, rename, cast, default, of=of, by=by, why=why)


def _pairs(text: str) -> dict[str, str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := [part for part in parts if "=" not in part.strip("=")]:
        raise BadRepair(f"{wrong[0]!r} is not of the form name=value")
    return {name.strip(): value.strip() for name, _, value in (part.partition("=") for part in parts)}


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
