"""The schemas of a domain as files: `domains/<domain>/schemas/<source>.avsc` and `.schema.json`.

`schemas/released/` has them as senders know them. A change is checked against those, and released by copying.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import avro.schema
from avro.errors import AvroException

from penstock.collect.registry.compatible import misfits, of_avro, of_json
from penstock.model.domain import domains
from penstock.model.source import Source

KINDS = {".avsc": "Avro", ".schema.json": "JSON Schema"}


@dataclass(frozen=True)
class Checked:
    """One schema of one source, and what is wrong with it: nothing, when `wrong` is empty."""

    source: str
    kind: str
    wrong: tuple[str, ...]
    changed: bool


def check(level: str) -> list[Checked]:
    """Every schema of every domain against its released version."""
    return [_checked(source, ending, level) for source in _sources() for ending in KINDS]


def release() -> list[str]:
    """Makes what is there the released version. Names what was copied."""
    copied = []
    for source in _sources():
        for ending in KINDS:
            new, old = paths(source, ending)
            if new.read_bytes() != (old.read_bytes() if old.is_file() else b""):
                old.parent.mkdir(exist_ok=True)
                old.write_bytes(new.read_bytes())
                copied.append(new.name)
    return copied


def paths(source: Source, ending: str) -> tuple[Path, Path]:
    """Where a source's schema is, and where its released version is."""
    folder = Path(import_module(f"domains.{source.domain}.model").__file__ or "").with_name("schemas")
    return folder / f"{source.name}{ending}", folder / "released" / f"{source.name}{ending}"


def _sources() -> Iterator[Source]:
    """Those whose domain keeps schemas."""
    for domain in domains().values():
        yield from (source for source in domain.sources if paths(source, "")[0].parent.is_dir())


def _checked(source: Source, ending: str, level: str) -> Checked:
    new, old = paths(source, ending)
    try:
        now = _read(new, ending)
        before = _read(old, ending) if old.is_file() else now
    except (OSError, ValueError, AvroException) as error:
        return Checked(source.name, KINDS[ending], (f"{new.name} cannot be read: {error}",), True)
    wrong = misfits(level, now, before, of_avro if ending == ".avsc" else of_json)
    return Checked(source.name, KINDS[ending], tuple(wrong), not old.is_file() or new.read_bytes() != old.read_bytes())


def _read(path: Path, ending: str) -> Any:
    return avro.schema.parse(path.read_text()) if ending == ".avsc" else json.loads(path.read_text())
