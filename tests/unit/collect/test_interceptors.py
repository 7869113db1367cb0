"""What an agent does to an event on its way, and how it tells it to its own log."""

import asyncio
import logging
import socket
import time
from typing import Any

import pytest

from penstock.collect.agent.interceptors import INTERCEPTORS
from penstock.collect.agent.sinks import Logger

HOST = socket.gethostname()


@pytest.mark.parametrize(
    ("kind", "options", "event", "after"),
    [
        ("host", {}, {"a": 1}, {"a": 1, "host": HOST}),
        ("host", {"as_": "from"}, {"a": 1}, {"a": 1, "from": HOST}),
        ("host", {}, {"host": "said"}, {"host": "said"}),
        ("timestamp", {}, {"happened_at": 7}, {"happened_at": 7}),
        ("add", {"site": "a.example"}, {"a": 1}, {"a": 1, "site": "a.example"}),
        ("add", {"a": 2}, {"a": 1}, {"a": 1}),
        ("extract", {"field": "r", "pattern": "^(?P<m>[A-Z]+) "}, {"r": "GET /x"}, {"r": "GET /x", "m": "GET"}),
        ("extract", {"field": "r", "pattern": "^(?P<m>[A-Z]+) "}, {"r": "get /x"}, {"r": "get /x"}),
        ("extract", {"field": "n", "pattern": "(?P<last>.)$"}, {"n": 42}, {"n": 42, "last": "2"}),
        ("extract", {"field": "absent", "pattern": "(?P<last>.)$"}, {"n": 42}, {"n": 42}),
        ("drop", {"field": "path", "pattern": "^/healthz"}, {"path": "/healthz?"}, None),
        ("drop", {"field": "path", "pattern": "^/healthz"}, {"path": "/x"}, {"path": "/x"}),
    ],
)
def test_an_interceptor_adds_or_drops_and_changes_nothing_else(
    kind: str, options: dict[str, Any], event: dict[str, Any], after: dict[str, Any] | None
) -> None:
    assert INTERCEPTORS[kind](**options)(event) == after


def test_an_event_without_a_time_gets_that_of_now() -> None:
    before = time.time_ns() // 1_000_000
    after = INTERCEPTORS["timestamp"](as_="at")({})
    assert after is not None and before <= after["at"] <= time.time_ns() // 1_000_000


def test_the_logger_tells_each_event(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "penstock.agent"):
        asyncio.run(Logger().put([{"a": 1}, {"b": "é"}]))
    assert caplog.messages == ['{"a":1}', '{"b":"é"}']
