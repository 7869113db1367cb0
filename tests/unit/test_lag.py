"""How far a stream says that it is: as far as its table, when Spark is further."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.engine.epoch import Epoch
from penstock.engine.lag import ASKED_SECONDS
from penstock.engine.progress import Progress, read
from penstock.engine.stream import HEARTBEAT_SECONDS, Stream

SOURCE = SimpleNamespace(
    startOffset=json.dumps({"web.events": {"0": 100}}),
    endOffset=json.dumps({"web.events": {"0": 300}}),
    latestOffset=json.dumps({"web.events": {"0": 300}}),
)


class Job:
    """A job that may have left its last epoch, or what readers see of it, to a thread."""

    source = SimpleNamespace(domain="web", name="web.events")

    def __init__(self, settled: bool, shown: bool = True) -> None:
        self.settled, self.shown = lambda: settled, lambda: shown

    def check(self) -> None:
        """Nothing went wrong."""


def stream(home: Path, job: Job, began: float = 30.0, resting: bool = False) -> Stream:
    """Its last epoch began so many seconds ago, and it was level before."""
    told = datetime.fromtimestamp(time.time() - began, UTC).isoformat(timespec="milliseconds")
    query = SimpleNamespace(
        isActive=True,
        lastProgress=SimpleNamespace(sources=[SOURCE], timestamp=told.replace("+00:00", "Z"), batchId=7),
        status={"isTriggerActive": not resting, "isDataAvailable": False},
    )
    made = Stream(cast(Any, job), "", home, Progress("shape-web.events", "r1"), cast(Any, query))
    made.lag.level_at = time.time() - 100
    return made


def tended(home: Path, made: Stream) -> dict[str, Any]:
    made.tend(cast(Any, None), now=time.time())
    return read(home)[0]


@pytest.mark.parametrize(("settled", "lag"), [(True, 0), (False, 200)])
def test_an_epoch_is_behind_until_it_is_committed(tmp_path: Path, settled: bool, lag: int) -> None:
    assert tended(tmp_path, stream(tmp_path, Job(settled)))["lag_records"] == lag


def test_a_stream_says_its_lag_however_often_it_says_what_it_did(tmp_path: Path) -> None:
    made, now = stream(tmp_path, Job(True)), time.time()
    for second in range(int(HEARTBEAT_SECONDS) + 1):
        made._succeeded(Epoch("query", second, 1), {"rows": 1})
        made.tend(cast(Any, None), now=now + second)
    assert read(tmp_path)[0]["lag_records"] == 0


@pytest.mark.parametrize(("settled", "state"), [(True, "running"), (False, "starting")])
def test_a_stream_that_has_all_there_is_runs_though_nothing_came_since_its_start(
    tmp_path: Path, settled: bool, state: str
) -> None:
    assert tended(tmp_path, stream(tmp_path, Job(settled)))["state"] == state


@pytest.mark.parametrize(
    ("job", "resting", "seconds"),
    [
        (Job(True), False, 30),
        (Job(True), True, ASKED_SECONDS),
        (Job(True, shown=False), False, 100),
        (Job(False), True, 100),
    ],
    ids=["what came before its last epoch", "nothing came", "readers do not have it yet", "not committed"],
)
def test_a_stream_has_what_the_log_had_when_it_last_asked(
    tmp_path: Path, job: Job, resting: bool, seconds: float
) -> None:
    assert tended(tmp_path, stream(tmp_path, job, 30.0, resting))["lag_seconds"] == pytest.approx(seconds, abs=1)


def test_what_readers_did_not_have_yet_they_have_when_the_next_but_one_epoch_is_done(tmp_path: Path) -> None:
    made = stream(tmp_path, Job(True, shown=False))
    tended(tmp_path, made)
    query = cast(Any, made.query)
    for epoch, seconds in ((8, 100), (9, 30)):
        query.lastProgress.batchId, made.looked_at = epoch, 0.0
        assert tended(tmp_path, made)["lag_seconds"] == pytest.approx(seconds, abs=2)


def test_a_stream_that_failed_has_failed_until_its_new_query_says_more(tmp_path: Path) -> None:
    made = stream(tmp_path, Job(True), resting=True)
    assert tended(tmp_path, made)["rests"]
    query = made.query
    made._failed("ValueError: a record that nobody can read")
    made.lag.begin()
    made.query, made.looked_at = query, 0.0
    cast(Any, query).lastProgress = None
    told = tended(tmp_path, made)
    assert (told["state"], told["lag_records"], told["rests"]) == ("failed", None, False)
    assert "nobody can read" in told["sentence"]


def test_a_driver_knows_up_to_when_readers_had_everything_from_the_one_before_it(tmp_path: Path) -> None:
    assert Progress("shape-web.events", "r1").level_at(tmp_path) is None
    said = tended(tmp_path, stream(tmp_path, Job(True)))
    assert Progress("shape-web.events", "r1").level_at(tmp_path) == pytest.approx(complete_to(said))


def test_two_threads_may_say_what_a_stream_does(tmp_path: Path) -> None:
    made = stream(tmp_path, Job(True))
    with ThreadPoolExecutor(2) as both:
        said = [both.submit(made._say) for _ in range(400)]
    assert [each.result() for each in said] == [None] * 400


def test_what_an_answer_is_complete_to_stays_where_it_is_until_the_stream_looks_again(tmp_path: Path) -> None:
    made = stream(tmp_path, Job(True))
    first = tended(tmp_path, made)
    time.sleep(0.3)
    made._succeeded(Epoch("query", 1, 1), {"rows": 1})
    assert complete_to(read(tmp_path)[0]) == pytest.approx(complete_to(first), abs=0.15)


def complete_to(said: dict[str, Any]) -> float:
    return datetime.fromisoformat(said["at"]).timestamp() - float(said["lag_seconds"])
