"""A replay waits while somebody has paused it, is still the one replay of its domain, and goes on or is given up."""

import json
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Waits
from dataclasses import replace
from pathlib import Path

import pytest
from toy_code import TOY
from toy_log import ToyLog, traffic
from typer.testing import CliRunner

from penstock.engine import releasing
from penstock.lake.audit import entries
from penstock.lake.layout import Layout
from penstock.lake.pausing import pause, resume
from penstock.lake.releases import BUILDING, DROPPED, PAUSED, Refused, Release, registry, say
from penstock.lake.replays import Asked, begin
from penstock.model.domain import Domain
from penstock.ops.cli import application


@pytest.fixture
def log(tmp_path: Path, toy: Domain) -> ToyLog:
    log = ToyLog(None, Layout(str(tmp_path / "lake")))
    log.take(traffic(1, 10))
    return log


@pytest.fixture
def begun(log: ToyLog, tmp_path: Path) -> Release:
    return begin(log.layout, tmp_path, Asked("toy", str(TOY), who="lina", why="a wrong rule", operation="replay/1"))


def state(log: ToyLog) -> str:
    return registry(log.layout, "toy").get("r2").state


def test_a_replay_is_paused_and_resumed_and_the_audit_tells_each_once(log: ToyLog, begun: Release) -> None:
    said = [pause(log.layout, "toy", "omar", "the morning's peak") for _ in range(2)]
    assert (state(log), said[0].startswith("toy r2 waits after its epoch")) == (PAUSED, True)
    for _ in range(2):
        resume(log.layout, "toy", "omar", "it is over")
    told = [(each.what, each.who, each.after["release"]) for each in reversed(entries(log.layout))]
    assert (state(log), told) == (BUILDING, [("pause", "omar", "r2"), ("resume", "omar", "r2")])
    assert registry(log.layout, "toy").get("r2").why == "a wrong rule"


@pytest.mark.parametrize(("then", "ends"), [(BUILDING, "goes on"), (DROPPED, "toy r2 was dropped")])
def test_whoever_makes_a_paused_release_waits_until_somebody_says_what(
    log: ToyLog, begun: Release, monkeypatch: pytest.MonkeyPatch, then: str, ends: str
) -> None:
    monkeypatch.setattr(releasing, "LOOK_SECONDS", 0.02)
    pause(log.layout, "toy", "omar", "the morning's peak")

    def epoch() -> str:
        try:
            releasing._must_be_wanted(log.layout, begun)
        except Refused as refused:
            return str(refused)
        return "goes on"

    with ThreadPoolExecutor(1) as replay:
        waiting = replay.submit(epoch)
        try:
            with pytest.raises(Waits):
                waiting.result(0.3)
        finally:
            say(log.layout, replace(registry(log.layout, "toy").get("r2"), state=then))
        assert ends in waiting.result(10)


def test_a_paused_replay_is_still_the_one_of_its_domain_and_cannot_be_read(
    log: ToyLog, begun: Release, tmp_path: Path
) -> None:
    pause(log.layout, "toy", "omar", "the morning's peak")
    asked = Asked("toy", str(TOY), who="lina", why="again", operation="replay/2")
    with pytest.raises(Refused, match="toy r2 is being replayed already"):
        begin(log.layout, tmp_path, asked)
    with pytest.raises(Refused, match="waits until somebody lets it go on"):
        registry(log.layout, "toy").must_be_ready("r2")
    assert begin(log.layout, tmp_path, replace(asked, operation="replay/1")).about == "r2"


def test_a_replay_is_paused_and_resumed_by_the_command_line(
    log: ToyLog, begun: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_LAKE", log.layout.root)
    seen = []
    for word in ("--pause", "--resume"):
        asked = ["replay", "--domain", "toy", word, "--why", "the morning's peak", "--json"]
        told = CliRunner().invoke(application(), asked)
        assert (told.exit_code, "toy r2" in json.loads(told.stdout)["told"]) == (0, True)
        seen.append(state(log))
    assert seen == [PAUSED, BUILDING]


def test_what_is_not_being_built_or_was_never_paused_is_refused(log: ToyLog, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="nothing to pause"):
        pause(log.layout, "toy", "omar", "the morning's peak")
    begin(log.layout, tmp_path, Asked("toy", str(TOY), who="lina", why="a wrong rule", operation="replay/1"))
    with pytest.raises(Refused, match="never paused"):
        resume(log.layout, "toy", "omar", "it is over")
