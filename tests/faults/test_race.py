"""Two processes write one table, or one checkpoint, on a local disk: each version is one writer's, and both know."""

import os
from pathlib import Path

import pytest

OURS = "penstock.lake.LinkLogStore"
STOCK = "io.delta.storage.LocalLogStore"
CHECKPOINTS = "penstock.lake.CheckpointFiles"
FULL = bool(os.environ.get("PENSTOCK_FULL"))
ROUNDS = 20_000 if FULL else 1_000


@pytest.mark.parametrize(("store", "told"), [(OURS, [True, False]), (STOCK, [True, True])], ids=["ours", "stock"])
def test_a_writer_that_was_overtaken_is_told_so(drivers, tmp_path: Path, store: str, told: list[bool]) -> None:
    slow, quick = (driver.commits(store) for driver in drivers)
    version, answers = tmp_path / "00000000000000000000.json", []
    mine = slow(version, "slow", lambda: answers.append(quick(version, "quick")))
    # Stock Delta tells both that they won and keeps one: so the races below are able to fail.
    assert [*answers, mine] == told


def raced(drivers, contest, folder: Path, store: str, rounds: int):
    """The outcome, and whose content each version has."""

    def writer(index: int):
        commit = drivers[index].commits(store)
        return lambda number: commit(folder / f"{number:020}.json", str(index))

    outcome = contest([writer(0), writer(1)], rounds)
    return outcome, [[int((folder / f"{number:020}.json").read_text())] for number in range(rounds)]


def test_of_two_contested_commits_one_wins_and_is_kept(drivers, contest, tmp_path: Path) -> None:
    outcome, kept = raced(drivers, contest, tmp_path, OURS, ROUNDS)
    print(f"{ROUNDS} contested commits: {outcome.both} double successes, {outcome.lost} lost")  # noqa: T201
    assert outcome.winners == kept
    assert not list(tmp_path.glob(".*")), "drafts are removed"


def test_the_race_finds_the_hole_of_the_stock_store(drivers, contest, tmp_path: Path) -> None:
    rounds = 2_000 if FULL else 100
    outcome, _ = raced(drivers, contest, tmp_path, STOCK, rounds)
    print(f"{rounds} contested commits with stock Delta: {outcome.both} double successes")  # noqa: T201
    assert outcome.both > 0


def test_of_two_drivers_of_one_checkpoint_one_writes_the_epoch(drivers, contest, tmp_path: Path) -> None:
    rounds = ROUNDS // 4

    def writer(index: int):
        write = drivers[index].checkpoints(CHECKPOINTS, tmp_path)
        return lambda number: write(tmp_path / str(number), str(index))

    outcome = contest([writer(0), writer(1)], rounds)
    assert outcome.winners == [[int((tmp_path / str(number)).read_text())] for number in range(rounds)]


def test_a_cancelled_checkpoint_file_leaves_nothing(drivers, tmp_path: Path) -> None:
    files = drivers[0].made(CHECKPOINTS, drivers[0].path(tmp_path), drivers[0].hadoop)
    out = files.createAtomic(drivers[0].path(tmp_path / "7"), False)
    out.write(bytearray(b"half"))
    out.cancel()
    out.close()
    assert not list(tmp_path.iterdir())
