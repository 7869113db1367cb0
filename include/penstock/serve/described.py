"""Views as the console and the command line see them."""

from typing import Any

from penstock.model.bucket import widths
from penstock.model.view import Latest, PerKey, Sessions, Tally, View, keys, source_of


def described(view: View) -> dict[str, Any]:
    """A view's words, keys and numbers."""
    return {
        "name": view.name,
        "doc": view.doc,
        "kind": type(view).__name__.lower(),
        "source": source_of(view).name,
        "of": view.of.name if isinstance(view.of, Sessions) else view.of.source.name,
        "keys": list(keys(view)),
        "measures": _numbers(view),
        "every": view.every if isinstance(view, Tally) else None,
        "widths": [width.name for width in widths(view.every)] if isinstance(view, Tally) else [],
    }


def _numbers(view: View) -> list[dict[str, str]]:
    match view:
        case Tally() | Sessions():
            return [{"name": name, "kind": measure.kind, "doc": measure.doc} for name, measure in view.measures.items()]
        case Latest():
            return [{"name": name, "kind": "column", "doc": ""} for name in ("at", *view.columns)]
        case PerKey():
            return [{"name": name, "kind": kind, "doc": ""} for name, kind in view.columns.items()]
