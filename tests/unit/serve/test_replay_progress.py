"""How far a replay is, as the API tells it: in records while there are some left, in words alone of views; and until
when one may go back to a release, as the API and the command tell it.
"""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient
from toy_lake import ToyLake
from typer.testing import CliRunner

from penstock.lake.releases import BUILDING, READY, Release, registry, say, switch
from penstock.lake.replaying import Progress
from penstock.ops.cli import application
from penstock.settings import Settings


def told(client: TestClient, what: str = "progress", release: str = "r2") -> Any:
    (domain,) = [each for each in client.get("/api/releases").json()["releases"] if each["domain"] == "toy"]
    return {each["release"]: each[what] for each in domain["all"]}[release]


@pytest.mark.parametrize(
    ("stage", "share", "text"),
    [
        ("silver", 0.25, "50 of 200 records are shaped"),
        ("views", None, "all 50 records are shaped, their views are being built"),
    ],
)
def test_a_release_that_is_being_built_says_how_far_it_is(
    lake: ToyLake, client: TestClient, settings: Settings, stage: str, share: float | None, text: str
) -> None:
    say(lake.layout, Release("toy", "r2", BUILDING))
    assert told(client) is None
    replay = Progress("toy", "r2", 200, sources={"toy.events": {"done": 30}, "toy.others": {"done": 20}})
    replay.say(stage, settings.home)
    assert told(client) == {"share": share, "text": text}
    say(lake.layout, Release("toy", "r2", READY))
    assert told(client) is None


def test_a_release_that_was_left_says_until_when_one_may_go_back_to_it(
    lake: ToyLake, client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(lake.layout, Release("toy", "r2", READY))
    switch(lake.layout, "toy", "r2", "lina", "a new rule")
    left = registry(lake.layout, "toy").rows[-1].at + timedelta(days=7)
    assert datetime.fromisoformat(told(client, "until", "r1")) == left
    assert told(client, "until") is None
    monkeypatch.setenv("PENSTOCK_LAKE", lake.layout.root)
    monkeypatch.setenv("PENSTOCK_REVERT_DAYS", "2")
    said = json.loads(CliRunner().invoke(application(), ["releases", "list", "--json"]).stdout)["releases"]
    listed = {row["about"]: row["until"] for row in said if row["domain"] == "toy"}
    assert listed == {"r1": str(left - timedelta(days=5)), "r2": None}
    shown = CliRunner().invoke(application(), ["releases", "list"], env={"COLUMNS": "160"}).stdout
    assert f"kept up until {left - timedelta(days=5):%Y-%m-%d %H:%M} UTC" in shown
