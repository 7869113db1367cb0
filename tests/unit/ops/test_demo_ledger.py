"""The demo's stage of the ledger: how many records balance so far, and which closed hour does not."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from receivers import serving

from penstock.lake.ledger import Balance
from penstock.ops.demo import stages
from penstock.ops.demo.stages import Stage
from penstock.settings import Settings


def hour(accepted: int | None, archived: int, facts: int, rejected: int = 0, open: bool = True) -> dict[str, Any]:
    """An hour of the books, as serve tells it."""
    begun = datetime(2026, 3, 2, 7, tzinfo=UTC)
    return Balance("web.events", begun, accepted, archived, facts, rejected, 0, 0, open).as_dict()


def told(settings: Settings, folder: Path, *hours: dict[str, Any]) -> Stage:
    """The stage where serve answers with these hours."""
    (folder / "api").mkdir()
    (folder / "api" / "ledger").write_text(json.dumps({"hours": hours}))
    files = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), files)) as port:
        return stages.booked(replace(settings, serve_port=port))


def test_what_every_count_has_balances_so_far(settings: Settings, tmp_path: Path) -> None:
    open_hour, past_retention = hour(90, 80, 60, 10), hour(None, 40, 40, open=False)
    stage = told(settings, tmp_path, open_hour, past_retention)
    assert stage == Stage("ledger", 110, "110 of 130 records balance, and 1 of 1 closed hours")


@pytest.mark.parametrize(
    ("open", "wrong"), [(True, 0), (False, 1)], ids=["is not wrong while it is open", "is wrong when it is closed"]
)
def test_an_hour_that_does_not_balance(settings: Settings, tmp_path: Path, open: bool, wrong: int) -> None:
    assert told(settings, tmp_path, hour(9, 9, 8, open=open)).wrong == wrong


def test_the_stage_is_among_those_that_the_demo_looks_at(settings: Settings) -> None:
    silent = replace(settings, collector_port=9, serve_port=9, airflow_port=9)
    assert "ledger" in [each.name for each in stages.look(silent)]
