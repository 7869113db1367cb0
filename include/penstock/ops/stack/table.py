"""The stack on a screen: a table that lives on a terminal, plain lines elsewhere."""

from typing import Any, Literal

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from penstock.ops.stack.home import USERS, Home
from penstock.ops.stack.state import State

COLOURS = {"well": "green", "starting": "yellow", "restarting": "red", "stopped": "red"}
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


def epochs(streams: list[dict[str, Any]]) -> Table:
    """One line a stream: where it is and how far behind; whose driver runs it, where there are several."""
    columns = {"epoch": "epoch", "lag_records": "lag, records", "at": "at"}
    if len({each.get("group") for each in streams}) > 1:
        columns = {"group": "driver", **columns}
    grid = Table("stream", *columns.values())
    for each in streams:
        grid.add_row(each["stream"], *(str(each.get(name, "")) for name in columns))
    return grid
