"""What one question may take, and that it ends when nobody waits for its answer any more."""

import socket
import time
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient
from toy_lake import ToyLake, fact
from unit.serve.test_api import TALLY, told

from penstock.serve import reader as reading
from penstock.serve.engine import Engine, Stop
from penstock.serve.problems import Problem
from penstock.serve.reader import Reader

ENDLESS = "select count(*) from range(1_000_000_000_000) a(i) where sin(i) > 2"
GREEDY = "select i, md5(i::varchar) from range(30_000_000) a(i) group by all"


class Stopwatch(Engine):
    """Notes how long each question that was stopped had taken."""

    def __init__(self, **limits: Any) -> None:
        super().__init__(**limits)
        self.begun = 0
        self.stopped: list[float] = []

    def table(
        self, sql: str, relations: Mapping[str, pa.Table], parameters: Sequence[Any] = (), stop: Stop | None = None
    ) -> pa.Table:
        self.begun += 1
        began = time.monotonic()
        try:
            return super().table(sql, relations, parameters, stop)
        except Problem:
            self.stopped.append(time.monotonic() - began)
            raise


@pytest.fixture
def lake(lake: ToyLake) -> ToyLake:
    lake.epoch([fact(), fact(what="buy"), fact(what="leave")])
    return lake


@pytest.fixture
def engine() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def reader(lake: ToyLake, engine: Stopwatch) -> Reader:
    return Reader(lake.layout, engine)


def eventually(true: Any, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return bool(true())


def test_too_many_groups_are_refused_with_the_limit(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(told(client, f"{TALLY}&by=what")["rows"]) == 3
    monkeypatch.setattr(reading, "LARGEST_GROUPS", 2)
    # Another question: the answer to the first is kept. A limit on rows does not make groups fewer.
    answer = client.get(f"{TALLY}&by=what&limit=1")
    assert (answer.status_code, answer.json()["detail"][:21]) == (422, "3 groups; at most 2. ")


@pytest.mark.parametrize(
    ("limits", "sql", "status"),
    [({"seconds": 0.2}, ENDLESS, 503), ({"memory": "50MB"}, GREEDY, 422)],
    ids=["time", "memory"],
)
def test_a_question_that_takes_too_much_is_stopped(limits: dict[str, Any], sql: str, status: int) -> None:
    engine = Stopwatch(**limits)
    with pytest.raises(Problem) as refused:
        engine.table(sql, {})
    assert (refused.value.status, engine.stopped[0] < 5) == (status, True)
    assert engine.table("select 1 as one", {}).to_pylist() == [{"one": 1}]


def test_a_question_of_several_steps_is_stopped_in_the_step_that_runs(engine: Stopwatch) -> None:
    stop = Stop()
    engine.table("select 1", {}, stop=stop)
    Timer(0.2, stop).start()
    with pytest.raises(Problem):
        engine.table(ENDLESS, {}, stop=stop)
    assert engine.stopped[0] < 5


def test_a_question_is_stopped_when_who_asked_it_goes(
    port: int, engine: Stopwatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_sql", lambda *_: (ENDLESS, []))
    asks = f"GET {TALLY} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        before = engine.begun
        client.sendall(asks.encode())
        assert eventually(lambda: engine.begun > before)
        time.sleep(0.2)
        assert engine.stopped == []
    assert eventually(lambda: len(engine.stopped) == 1) and engine.stopped[0] < 5
