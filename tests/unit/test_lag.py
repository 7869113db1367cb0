"""How far a stream says that it is: as far as its table, when Spark is further."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.engine.epoch import Epoch
from penstock.engine.progress import Progress, read
from penstock.engine.stream import HEARTBEAT_SECONDS, Stream

SOURCE = SimpleNamespace(
    startOffset=json.dumps({"web.events": {"0": 100}}),
    endOffset=json.dumps({"web.events": {"0": 300}}),
    latestOffset=json.dumps({"web.events": {"0": 300}}),
)


class Job:
    """A job that has left its last epoch to a thread."""

    def __init__(self, settled: bool) -> None:
        self.settled = lambda: settled

    def check(self) -> None:
        """Nothing went wrong."""


@pytest.mark.parametrize(("settled", "lag"), [(True, 0), (False, 200)])
def test_an_epoch_is_behind_until_it_is_committed(tmp_path: Path, settled: bool, lag: int) -> None:
    query = cast(Any, SimpleNamespace(isActive=True, lastProgress=SimpleNamespace(sources=[SOURCE])))
    stream = Stream(cast(Any, Job(settled)), "", tmp_path, Progress("shape-web.events", "r1"), query)
    stream.tend(cast(Any, None), now=1e10)
    assert read(tmp_path)[0]["lag_records"] == lag


def test_a_stream_says_its_lag_however_often_it_says_what_it_did(tmp_path: Path) -> None:
    query = cast(Any, SimpleNamespace(isActive=True, lastProgress=SimpleNamespace(sources=[SOURCE])))
    stream = Stream(cast(Any, Job(True)), "", tmp_path, Progress("shape-web.events", "r1"), query)
    for second in range(int(HEARTBEAT_SECONDS) + 1):
        stream._succeeded(Epoch("query", second, 1), {"rows": 1})
        stream.tend(cast(Any, None), now=stream.looked_at + second)
    assert read(tmp_path)[0]["lag_records"] == 0


@pytest.mark.parametrize(("settled", "state"), [(True, "running"), (False, "starting")])
def test_a_stream_that_has_all_there_is_runs_though_nothing_came_since_its_start(
    tmp_path: Path, settled: bool, state: str
) -> None:
    query = cast(Any, SimpleNamespace(isActive=True, lastProgress=SimpleNamespace(sources=[SOURCE])))
    stream = Stream(cast(Any, Job(settled)), "", tmp_path, Progress("shape-web.events", "r1"), query)
    stream.tend(cast(Any, None), now=1e10)
    assert read(tmp_path)[0]["state"] == state
