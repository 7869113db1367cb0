"""Whether two versions of a domain's code make the same facts of the same records, as far as their text says.

A shape is `shapes.py` with the modules of the domain that it imports; of `model.py`, which is also the views', it is
the sources and the names that these take from it.
"""

import ast
import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from penstock.model.domain import code

MODEL, SOURCES = "model", "SOURCES"


def unlike(before: Path, after: Path, domain: str) -> list[str]:
    """What of the shape is another in the second folder than in the first; nothing where facts are the same."""
    files, names = _shape(before, domain)
    others, more = _shape(after, domain)
    told = [f"{name}.py" for name in sorted({*files, *others}) if files.get(name) != others.get(name)]
    mine, theirs = (_model(folder, domain, names | more) for folder in (before, after))
    return [*told, *(f"{name} of {MODEL}.py" for name in sorted(names | more) if mine[name] != theirs[name])]


def _shape(folder: Path, domain: str) -> tuple[dict[str, str], set[str]]:
    """The text of each module of a shape, and the names that they take from the model."""
    texts, names, waiting = dict[str, str](), {SOURCES}, ["shapes"]
    while waiting:
        module = waiting.pop()
        file = folder / "domains" / domain / f"{module}.py"
        if module in texts or not file.exists():
            continue
        texts[module] = file.read_text()
        for found, taken in _imports(texts[module], f"domains.{domain}"):
            if found == MODEL:
                names |= taken
            else:
                waiting.append(found)
    return texts, names


def _imports(text: str, package: str) -> Iterator[tuple[str, set[str]]]:
    """Module of the domain -> names that are taken from it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from ((each.name, set()) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            yield str(node.module).removeprefix(f"{package}."), {each.name for each in node.names}


def _model(folder: Path, domain: str, names: set[str]) -> dict[str, Any]:
    with code(folder):
        model = importlib.import_module(f"domains.{domain}.{MODEL}")
        return {name: meaning(getattr(model, name, None)) for name in names}


def meaning(said: Any) -> Any:
    """What a model or a view says, as something to compare: without words for people, functions by their text."""
    if is_dataclass(said):
        parts = {part.name: meaning(getattr(said, part.name)) for part in fields(said) if part.name != "doc"}
        return type(said).__name__, parts
    if isinstance(said, Mapping):
        return {name: meaning(value) for name, value in said.items()}
    if isinstance(said, tuple | list):
        return [meaning(each) for each in said]
    return inspect.getsource(said) if callable(said) else said
