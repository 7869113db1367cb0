"""What was rejected is grouped by reason and shape, whatever bytes it has, with what might mend it."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from starlette.requests import Request
from toy_lake import QUERY, SCHEMA, ToyLake
from typer.testing import CliRunner

from penstock.engine.commit import Appender
from penstock.lake.rejected import groups
from penstock.ops.cli import application
from penstock.serve.reader import Reader
from penstock.serve.undoing import Undoing

RAWS = [b'{"whom": 1}', b'{"whom": 2, "x": "y"}', b'{"whom": 3}', b"{", b"\xff\xfe", None]


@pytest.fixture
def spoilt(lake: ToyLake) -> ToyLake:
    rows = [
        {
            "partition": 1, "offset": offset, "epoch": 9, "event_id": f"r{offset}", "disposition": "rejected",
            "reason": "missing_who" if offset < 3 else "malformed", "raw": raw, "content_hash": 0,
            "logged_at": datetime(2026, 3, 2, 0, offset, tzinfo=UTC), "day": datetime(2026, 3, 2, tzinfo=UTC).date(),
        }
        for offset, raw in enumerate(RAWS)
    ]  # fmt: skip
    Appender(lake.layout.silver("r1", "toy.events")).append(pa.Table.from_pylist(rows, SCHEMA), QUERY, 9)
    return lake


def test_rejected_records_are_grouped_with_their_newest_examples(spoilt: ToyLake) -> None:
    found = groups(spoilt.layout, "r1", "toy.events")
    assert [(group.reason, group.shape, group.records) for group in found] == [
        ("malformed", "no JSON", 2),
        ("missing_who", '{"whom":"UBIGINT"}', 2),
        ("malformed", "kept in bronze", 1),
        ("missing_who", '{"whom":"UBIGINT","x":"VARCHAR"}', 1),
    ]
    assert [one["at"] for one in found[1].examples] == ["1/2", "1/0"]
    assert [group.records for group in groups(spoilt.layout, "r1", "toy.events", "malformed")] == [2, 1]


def test_the_command_shows_each_group_with_a_repair_to_be_tried(
    spoilt: ToyLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_LAKE", spoilt.layout.root)
    told = CliRunner().invoke(application(), ["rejected", "--source", "toy.events"]).stdout.splitlines()
    repair = "penstock repair --source toy.events --reason missing_who --rename whom=who --why … --dry-run"
    assert [line for line in told if line.endswith(repair)] == [f"    -> whom looks like who: {repair}"] * 2
    said = CliRunner().invoke(application(), ["rejected", "--source", "toy.events", "--json"]).stdout
    assert [group["proposal"]["rename"] for group in json.loads(said)] == [{}, {"whom": "who"}, {}, {"whom": "who"}]


def test_the_api_tells_of_each_reason_once_with_the_first_repair_that_could_be_proposed(spoilt: ToyLake) -> None:
    reader = Reader(spoilt.layout)
    told = Undoing(reader).groups(Request({"type": "http", "path_params": {"source": "toy.events"}}))
    assert isinstance(told, dict)
    found = [(one["reason"], one["records"], one["shapes"], one["proposal"]["rename"]) for one in told["groups"]]
    assert found == [("malformed", 3, 2, {}), ("missing_who", 3, 2, {"whom": "who"})]
