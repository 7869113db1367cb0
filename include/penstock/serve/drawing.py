"""A page's chart as a picture, for alerts, mail and documents: the domain's own, drawn as the console does."""

import copy
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, Protocol

from penstock.model.page import Page
from penstock.serve import declared
from penstock.serve.problems import bad, unknown

KINDS = {"png": "image/png", "svg": "image/svg+xml"}
WEEK = timedelta(weeks=1)
SOFT, LINE, ACCENT = "#56616f", "#e3e7ec", "#0b6bcb"
CONFIG = {
    "background": "#fff", "font": "sans-serif", "view": {"stroke": None}, "area": {"color": ACCENT},
    "line": {"color": ACCENT}, "axis": {"labelColor": SOFT, "gridColor": LINE, "domain": False, "ticks": False},
}  # fmt: skip
WIDTH = 660

Said = Sequence[tuple[str, str]]
# A picture takes a tenth of a second of a core: those who ask wait for each other.
_drawing = Lock()


class Answering(Protocol):
    def answer(self, name: str, said: list[tuple[str, str]]) -> dict[str, Any]: ...


def picture(answers: Answering, domain: str, kind: str, said: Said) -> bytes:
    """The chart of the first headline, by day, over the week up to `to` and the one before; `where` as for a view."""
    pages = declared.pages()
    if domain not in pages:
        raise unknown("page", domain, tuple(pages))
    if kind not in KINDS:
        raise unknown("kind of picture", kind, tuple(KINDS))
    if others := {name for name, _ in said} - {"to", "where"}:
        raise bad(f"a picture has no parameter {min(others)!r}", "to", "where")
    text = json.dumps(drawn(pages[domain].chart, _points(answers, pages[domain], said)))
    return _drawn_as(kind, text)


def _points(answers: Answering, page: Page, said: Said) -> list[dict[str, Any]]:
    one, where = page.headlines[0], [pair for pair in said if pair[0] == "where"]
    ends, points = _ends(dict(said).get("to", "")), []
    for series, ago in (("now", 0), ("earlier", 1)):
        asked = [("from", ends[ago + 1]), ("to", ends[ago]), *where, ("every", "1 day"), ("order", "bucket")]
        rows = answers.answer(one.views[0], asked)["rows"]
        points += [point(row, one.measure, series, ago * WEEK) for row in rows]
    return points


def _ends(text: str) -> list[str]:
    """Where the week ends, and the two before it."""
    try:
        end = datetime.fromisoformat(text) if text else datetime.now(UTC)
        return [(end - ago * WEEK).isoformat() for ago in range(3)]
    except (ValueError, OverflowError):
        raise bad(f"to={text!r} is not a moment", "2026-11-01T00:00:00Z") from None


def point(row: Mapping[str, Any], measure: str, series: str, later: timedelta) -> dict[str, Any]:
    at = datetime.fromisoformat(str(row["bucket"])) + later
    return {"bucket": at.isoformat(), "value": row[measure], "series": series}


def drawn(specification: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The declared chart with its rows, in the colours of paper."""
    told = {"data": {"name": "rows", "values": rows}, "width": WIDTH, "config": CONFIG}
    chart = {**copy.deepcopy(dict(specification)), **told}
    chart.pop("datasets", None)
    return chart


def _drawn_as(kind: str, specification: str) -> bytes:
    import vl_convert

    with _drawing:
        if kind == "svg":
            return str(vl_convert.vegalite_to_svg(specification)).encode()
        return bytes(vl_convert.vegalite_to_png(specification, scale=2))
