"""The stack on a screen: a table that lives on a terminal, plain lines elsewhere."""

from datetime import UTC, datetime
from typing import Any, Literal

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from penstock.ops.stack.home import USERS, Home
from penstock.ops.stack.state import State

COLOURS = {"well": "green", "running": "green", "starting": "yellow"} | dict.fromkeys(
    ["restarting", "stopped", "failed"], "red"
)
# What a browser finds at an address.
SHOWS = {"collector": "/tracker.js", "api-server": "Airflow", "serve": "the console"}


def table(states: list[State], home: Home, seconds: float | None = None) -> Group:
    grid = Table(title="Penstock" if seconds is None else f"Penstock, {seconds:.0f} s", title_justify="left")
    # On 80 columns each is whole but the address, of which what it shows goes to the next line.
    for heading, width in (("part", 13), ("state", 10), ("port", 4), ("memory", 8), ("address", 21)):
        justify: Literal["left", "right"] = "right" if heading == "memory" else "left"
        grid.add_column(heading, justify=justify, min_width=width, overflow="fold")
    for each in states:
        shows = f"{each.address}  {SHOWS.get(each.part, '')}" if each.address else each.note
        ports = "\n".join(map(str, each.ports))
        grid.add_row(each.part, Text(each.state, COLOURS[each.state]), ports, megabytes(each.memory), shows)
    total = sum(each.memory for each in states)
    grid.add_section()
    grid.add_row("all", verdict(states), "", megabytes(total), "")
    return Group(grid, Text(hint(home), overflow="fold"))


def verdict(states: list[State]) -> str:
    well = sum(each.well for each in states)
    return "well" if well == len(states) else f"{well} of {len(states)} well"


def hint(home: Home) -> str:
    return f"Airflow asks who you are: {', '.join(USERS)}. Their passwords:\n  cat {home.passwords}"


def megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB" if size else ""


def changes(before: dict[str, str], states: list[State], seconds: float, console: Console) -> dict[str, str]:
    """Plain lines: one for each part whose state is another than before."""
    for each in states:
        if before.get(each.part) != each.state:
            line = f"{seconds:6.1f} s  {each.part:<14} {each.state:<10} {each.address}"
            console.print(line.rstrip(), highlight=False)
    return {each.part: each.state for each in states}


def epochs(streams: list[dict[str, Any]]) -> Group:
    """One line a stream: what it is, where and how far behind, and whose driver runs it, where there are several.

    Whole on 80 columns. What a failed one says, and what to do about it, stands below.
    """
    several = len({each.get("group") for each in streams}) > 1
    grid = Table("stream", *(["driver"] if several else []), "state", "epoch", "lag", "at, UTC")
    for each in streams:
        lag = each.get("lag_records")
        grid.add_row(
            each["stream"],
            *([each.get("group", "")] if several else []),
            Text(each.get("state", ""), COLOURS.get(each.get("state", ""), "")),
            str(each.get("epoch", "")),
            "" if lag is None else f"{lag:,}",
            _moment(each.get("at", "")),
        )
    told = [each for each in streams if each.get("sentence") or each.get("todo")]
    lines = [line for each in told for line in (f"{each['stream']}: {each['sentence']}", each["todo"]) if line]
    return Group(grid, *(Text(line, overflow="fold") for line in lines))


def _moment(at: str) -> str:
    """Today's time; of an earlier day, the day."""
    day, _, time = at.partition("T")
    return time[:8] if day == str(datetime.now(UTC).date()) else day
