"""The live table: what somebody who looks at a starting stack wants to know of each part."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from penstock.ops.stack.home import USERS, Home
from penstock.ops.stack.state import State
from penstock.ops.stack.table import epochs, table

HOME = Home(Path("/srv/penstock"), "stack")
AIRFLOW = State("api-server", "well", 7, (18080,), 300 * 2**20, "http://127.0.0.1:18080", "")
BROKER = State("broker", "starting", 8, (19092, 19093), 400 * 2**20, "127.0.0.1:19092", "")
SICK = State("scheduler", "stopped", 0, (), 0, "", "Exited too quickly")
NOW = datetime.now(UTC).replace(hour=16, minute=28, second=8).isoformat(timespec="milliseconds")
STREAM = {"state": "running", "epoch": 12345, "lag_records": 1234567, "group": "streams", "at": NOW}
# Narrow: what a new terminal has.
WIDTHS = pytest.mark.parametrize("width", [80, 160])


def shown(width: int, *states: State) -> str:
    screen = Console(width=width)
    with screen.capture() as captured:
        screen.print(table([*states], HOME, 12))
    return captured.get()


def row(text: str, part: str) -> str:
    return next(line for line in text.splitlines() if part in line)


@WIDTHS
@pytest.mark.parametrize("wanted", ["api-server", "well", "18080", "300 MB", "http://127.0.0.1:18080"])
def test_a_row_has_a_parts_name_state_port_memory_and_address_whole(width: int, wanted: str) -> None:
    cells = [cell.split() for cell in row(shown(width, AIRFLOW, BROKER, SICK), "api-server").split("│")]
    assert wanted.split() in [cell[: len(wanted.split())] for cell in cells]


@WIDTHS
def test_every_port_of_a_part_is_shown(width: int) -> None:
    assert all(str(port) in shown(width, BROKER) for port in BROKER.ports)


@WIDTHS
def test_a_part_without_an_address_says_why_it_does_not_run(width: int) -> None:
    assert "Exited too quickly" in shown(width, SICK)


@WIDTHS
def test_who_may_log_in_and_where_the_passwords_are_is_below(width: int) -> None:
    below = shown(width, AIRFLOW).rpartition("┘")[2]
    assert all(user in below for user in USERS) and str(HOME.passwords) in below


def test_the_sum_says_how_many_are_well() -> None:
    last = row(shown(160, AIRFLOW, BROKER, replace(AIRFLOW, part="serve")), "all")
    assert "2 of 3 well" in last and "1,000 MB" in last


def told(width: int, *streams: dict[str, Any]) -> str:
    screen = Console(width=width)
    with screen.capture() as captured:
        screen.print(epochs([*streams]))
    return captured.get()


@WIDTHS
def test_a_streams_row_is_whole_on_a_narrow_screen(width: int) -> None:
    long, other = STREAM | {"stream": "shape-prices.corrections"}, STREAM | {"stream": "other", "group": "web"}
    cells = [cell.strip() for cell in row(told(width, long, other), "shape-prices").split("│")[1:-1]]
    assert cells == ["shape-prices.corrections", "streams", "running", "12345", "1,234,567", "16:28:08"]


@WIDTHS
def test_what_a_stream_says_and_what_to_do_about_it_stand_below(width: int) -> None:
    failed = STREAM | {
        "stream": "shape",
        "state": "failed",
        "sentence": "no broker",
        "todo": "Start it.",
        "lag_records": None,
    }
    screen = told(width, failed, STREAM | {"stream": "well", "at": "2026-11-19T23:59:59.000+00:00"})
    assert [line.rstrip() for line in screen.splitlines()[-2:]] == ["shape: no broker", "Start it."]
    assert "2026-11-19" in row(screen, "well")
