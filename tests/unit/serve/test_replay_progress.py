"""How far a replay is, as the API tells it: in records while there are some left, in words alone of views."""

from typing import Any

import pytest
from starlette.testclient import TestClient
from toy_lake import ToyLake

from penstock.lake.releases import BUILDING, READY, Release, say
from penstock.lake.replaying import Progress
from penstock.settings import Settings


def told(client: TestClient) -> Any:
    (domain,) = [each for each in client.get("/api/releases").json()["releases"] if each["domain"] == "toy"]
    return {each["release"]: each["progress"] for each in domain["all"]}["r2"]


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
