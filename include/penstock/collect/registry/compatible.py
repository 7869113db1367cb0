"""Whether a new version of a schema fits an old one, and if not, why: Avro by its own checker, JSON Schema by ours.

Backward: what old writers send, new readers take. Forward: what new writers send, old readers take. Full: both.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

LEVELS = {each + more for each in ("BACKWARD", "FORWARD", "FULL") for more in ("", "_TRANSITIVE")} | {"NONE"}

# What bounds a value: a reader whose bound is lower (upper bounds), or higher (lower ones), takes less.
UPPER = ("maximum", "maxLength", "maxProperties", "maxItems")
LOWER = ("minimum", "minLength", "minProperties", "minItems")
Refusals = Callable[[Any, Any], Iterator[str]]


def misfits(level: str, new: Any, old: Any, refusals: Refusals) -> list[str]:
    """Sentences, none when the versions fit at this level. `refusals(reader, writer)` says what a reader refuses."""
    wanted = level.removesuffix("_TRANSITIVE")
    told = [f"old data, new reader: {each}" for each in refusals(new, old)] if wanted in ("BACKWARD", "FULL") else []
    return told + (
        [f"new data, old reader: {each}" for each in refusals(old, new)] if wanted in ("FORWARD", "FULL") else []
    )


def of_avro(reader: avro.schema.Schema, writer: avro.schema.Schema) -> Iterator[str]:
    verdict = ReaderWriterCompatibilityChecker().get_compatibility(reader, writer)  # type: ignore[no-untyped-call]
    if verdict.compatibility != SchemaCompatibilityType.compatible:
        yield from verdict.messages or ["the types differ"]


def of_json(reader: Mapping[str, Any], writer: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """What the writer's schema allows and the reader's does not, by the keywords that our schemas use."""
    for name in sorted({*reader.get("required", ())} - {*writer.get("required", ())}):
        yield f"{at}{name} is required and may be absent"
    if lost := _types(writer) - _types(reader):
        yield f"{at or 'it '}may be of type {', '.join(sorted(lost))}, which is refused"
    if "enum" in reader and (lost := {*writer.get("enum", ["anything"])} - {*reader["enum"]}):
        yield f"{at or 'it '}may be {', '.join(sorted(map(str, lost)))}, which is refused"
    for word in UPPER:
        if reader.get(word, INFINITE) < writer.get(word, INFINITE):
            yield f"{at}{word} is {reader[word]} and may be more"
    for word in LOWER:
        if reader.get(word, -INFINITE) > writer.get(word, -INFINITE):
            yield f"{at}{word} is {reader[word]} and may be less"
    for name, inner in reader.get("properties", {}).items():
        # What the writer does not name may be anything: names of fields are taken by whoever declares them first.
        if name in writer.get("properties", {}):
            yield from of_json(inner, writer["properties"][name], f"{at}{name}: ")


INFINITE = float("inf")
ANY = {"null", "boolean", "object", "array", "number", "string", "integer"}


def _types(schema: Mapping[str, Any]) -> set[str]:
    told = schema.get("type", "string" if "enum" in schema else None)
    types = ANY if told is None else {told} if isinstance(told, str) else {*told}
    return types | {"integer"} if "number" in types else types
