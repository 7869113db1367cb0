"""`penstock doctor --checkpoints`: what `penstock checkpoints examine` finds, with what mends it."""

import json
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from penstock.engine.checkpoints import heal, places
from penstock.engine.commit import Appender, create
from penstock.lake.layout import Layout
from penstock.lake.releases import READY, Release, say
from penstock.ops.cli import application
from penstock.settings import Settings

SOURCE = "web.events"
MEND = "penstock checkpoints rebuild --release r1"


@pytest.fixture
def layout(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A lake whose bronze and silver are at an epoch, and whose checkpoints are both gone."""
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    layout = Layout(settings.lake)
    rows = pa.table({"partition": pa.array([0], pa.int32()), "offset": [0], "epoch": [0]})
    for place in places(layout, SOURCE, "r1"):
        create(place.table, rows.schema, ("epoch",))
        Appender(place.table).append(rows, "query", 0)
    return layout


def asked(*words: str) -> tuple[int, Any]:
    run = CliRunner().invoke(application(), [*words, "--json"])
    return run.exit_code, json.loads(run.stdout)


def test_what_is_wrong_is_what_examine_finds_and_names_its_cure(layout: Layout) -> None:
    status, findings = asked("doctor", "--checkpoints")
    found = {each["told"].partition(" of r1: ")[0]: each["told"].partition(" of r1: ")[2] for each in findings}
    assert (1, {job: wrong or "well" for job, wrong in asked("checkpoints", "examine")[1].items()}) == (status, found)
    assert [each["mend"] for each in findings if not each["well"]] == [MEND, MEND]


def test_all_that_can_be_resumed_from_is_well(layout: Layout) -> None:
    for place in places(layout, SOURCE, "r1"):
        heal(place)
    assert asked("doctor", "--checkpoints")[0] == 0


def test_every_release_that_is_kept_up_is_examined_and_the_archive_once(layout: Layout) -> None:
    say(layout, Release("web", "r2", READY))
    told = [each["told"].partition(":")[0] for each in asked("doctor", "--checkpoints")[1]]
    ours = [each for each in told if each.partition(" ")[0].endswith(SOURCE)]
    assert sorted(ours) == [f"archive-{SOURCE} of r1", f"shape-{SOURCE} of r1", f"shape-{SOURCE} of r2"]
