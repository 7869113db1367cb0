"""A week of a domain's page as one HTML document: the headlines against the week before, the chart, the lists.

The numbers and the chart come from the read API.
"""

import html
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.util import find_spec

from penstock.model.page import Headline, Page, TopList
from penstock.refusal import Refusal
from penstock.serve.asking import Told, fetched, query

SHOWN = 7
# So many mails a week are read by nobody.
MOST = 50
WEEK = timedelta(weeks=1)
INK, SOFT, LINE = "#16202c", "#56616f", "#e3e7ec"


@dataclass(frozen=True)
class Asked:
    """Which page, of which scope, up to when, and where the read API is."""

    domain: str
    page: Page
    scope: str
    until: datetime
    address: str

    def view(self, name: str, weeks_ago: int = 0, **said: str) -> Told:
        end = self.until - WEEK * weeks_ago
        where = [f"{self.page.scope}:eq:{self.scope}"]
        return query(name, self.address, start=(end - WEEK).isoformat(), end=end.isoformat(), where=where, **said)


def page_of(domain: str) -> Page:
    name = f"domains.{domain}.charts"
    if not domain.isidentifier() or find_spec(f"domains.{domain}") is None or find_spec(name) is None:
        raise Refusal(f"The domain {domain!r} has no page. One that has: web.")
    page: Page = import_module(name).PAGE
    return page


def today() -> datetime:
    """Where the last whole day ended."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def scopes(page: Page, until: datetime, address: str) -> list[str]:
    """Whose week there is something to tell of."""
    start, end = (until - WEEK).isoformat(), until.isoformat()
    told = query(page.live, address, start=start, end=end, by=page.scope, limit=MOST)
    return sorted(row[page.scope] for row in told.rows.to_pylist())


def document(asked: Asked) -> str:
    """HTML that mail programs show: tables and one picture, no script, no style sheet from elsewhere."""
    numbers = [headline(asked, one) for one in asked.page.headlines]
    lists = [listed(asked, one) for one in first_of_groups(asked.page.lists)]
    picture = b64encode(chart(asked)).decode()
    title = html.escape(f"{asked.page.title}: {asked.scope}, the week to {asked.until.date()}")
    label = html.escape(asked.page.headlines[0].label)
    parts = (
        f'<!doctype html><meta charset="utf-8"><title>{title}</title>',
        f'<body style="font:15px sans-serif;color:{INK};max-width:680px;margin:auto">',
        f'<h1 style="font-size:20px">{title}</h1><p style="color:{SOFT}">{html.escape(certified(asked))}</p>',
        f'<table width="100%">{"".join(numbers)}</table>',
        f'<img alt="{label} by day" width="660" src="data:image/png;base64,{picture}">',
        *lists,
        "</body>",
    )
    return "\n".join(parts)


def certified(asked: Asked) -> str:
    """What holds for every number of it: final if all are, and as of the oldest."""
    shown = [one.views[0] for one in asked.page.headlines] + [one.view for one in first_of_groups(asked.page.lists)]
    told = [asked.view(name).certificate for name in dict.fromkeys(shown)]
    said = "Final." if all(one["final"] for one in told) else "Provisional: newer facts are still added."
    oldest = min(datetime.fromisoformat(one["as_of"]) for one in told)
    return f"{said} As of {oldest:%Y-%m-%d %H:%M} UTC, release {told[0]['release']}."


def headline(asked: Asked, one: Headline) -> str:
    now, earlier = (_first(asked.view(one.views[0], weeks), one.measure) for weeks in (0, 1))
    change = f"{(now - earlier) / earlier:+.1%}" if now is not None and earlier else ""
    return _row(one.label, shown(now, one.style), change)


def listed(asked: Asked, one: TopList) -> str:
    told = asked.view(one.view, by=one.by, order=f"-{one.measure}", limit=str(SHOWN + 1)).rows.to_pylist()
    rows = [row for row in told if row[one.by] is not None][:SHOWN]
    cells = "".join(_row(str(row[one.by]), shown(row[one.measure], one.style)) for row in rows)
    return (
        f'<h2 style="font-size:16px">{html.escape(one.label)}</h2><table width="100%">{cells}</table>' if rows else ""
    )


def first_of_groups(lists: Sequence[TopList]) -> list[TopList]:
    return list({one.group: one for one in reversed(lists)}.values())[::-1]


def chart(asked: Asked) -> bytes:
    """The page's chart of its first headline, by day, beside the week before; the read API draws it."""
    said = {"to": asked.until.isoformat(), "where": f"{asked.page.scope}:eq:{asked.scope}"}
    return fetched(f"charts/{asked.domain}/png", asked.address, said)


def shown(value: float | None, style: str) -> str:
    if value is None:
        return "-"
    match style:
        case "percent":
            return f"{value:.1%}"
        case "seconds":
            return f"{int(value) // 60} m {int(value) % 60:02d} s"
        case "milliseconds":
            return f"{value:,.0f} ms"
        case "decimal":
            return f"{value:,.1f}"
    return f"{value:,.0f}"


def _first(told: Told, measure: str) -> float | None:
    rows = told.rows.to_pylist()
    return rows[0][measure] if rows else None


def _row(*cells: str) -> str:
    name, *numbers = (html.escape(cell) for cell in cells)
    right = "".join(f'<td align="right">{cell}</td>' for cell in numbers)
    return f'<tr style="border-bottom:1px solid {LINE}"><td>{name}</td>{right}</tr>'
