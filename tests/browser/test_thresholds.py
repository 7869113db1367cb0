"""A threshold of a real serve, from the commit of an epoch to the log, the table and the page of whoever watches."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from browser.opening import Opened
from confluent_kafka import Consumer, TopicPartition
from playwright.sync_api import Locator, Page, expect
from tending import until
from toy_code import TOY
from toy_lake import MIDNIGHT, ToyLake, fact

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.log.alerts import PARTITIONS, TOPIC
from penstock.log.topics import ensure_named
from penstock.model.domain import Domain
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings


class Serve:
    """The program that the stack runs, with the toy domain among the others. A kill is its only end."""

    def __init__(self, settings: Settings) -> None:
        self.address = f"http://127.0.0.1:{settings.serve_port}"
        paths = [str(TOY), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environ = {**os.environ, **settings.to_env(), "PYTHONPATH": os.pathsep.join(paths)}
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-m", "penstock.serve"], env=self._environ)
        until(self._answers)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        assert self._process.poll() is None, "serve did not start"
        with suppress(OSError):
            return bool(urllib.request.urlopen(f"{self.address}/healthz", timeout=5).status == 200)  # noqa: S310
        return False


@pytest.fixture
def served(settings: Settings, broker: str) -> Iterator[Serve]:
    serve = Serve(replace(settings, kafka=broker, serve_port=free_port()))
    yield serve
    serve.kill()


@pytest.fixture
def lake(settings: Settings, toy: Domain) -> ToyLake:
    return ToyLake(None, Layout(settings.lake), toy)


@pytest.fixture
def told(broker: str) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """What came to the topic of alerts since the test began."""
    ensure_named(broker, TOPIC, PARTITIONS)
    reader = Consumer({"bootstrap.servers": broker, "group.id": "test", "log_level": 0})
    ends = [reader.get_watermark_offsets(TopicPartition(TOPIC, part))[1] for part in range(PARTITIONS)]
    reader.assign([TopicPartition(TOPIC, part, end) for part, end in enumerate(ends)])
    every: list[dict[str, Any]] = []

    def read() -> list[dict[str, Any]]:
        every.extend(json.loads(one.value()) for one in reader.consume(100, 0.2) if not one.error())
        return every

    yield read
    reader.close()


def busy(lake: ToyLake, now: datetime, what: str) -> None:
    """One epoch in which the same is done four times: one more than the threshold lets pass."""
    lake.epoch([fact(f"v{number}", (now - MIDNIGHT).total_seconds() / 60, what) for number in range(4)])


def alerts(page: Page) -> Locator:
    return page.get_by_role("region", name="Alerts")


def kept(settings: Settings) -> list[str]:
    """The ids that the table has."""
    table = open_table(Layout(settings.lake).alerts())
    return sorted(table.to_pyarrow_table()["id"].to_pylist()) if table else []


def test_who_watches_is_told_once_also_after_serve_was_killed(
    served: Serve, lake: ToyLake, settings: Settings, told: Callable[[], list[dict[str, Any]]], opened: Opened
) -> None:
    now = datetime.now(UTC)
    page = opened(f"{served.address}/?page=rules")
    expect(alerts(page)).to_contain_text("Nothing has met an armed rule yet.")
    busy(lake, now, "look")
    expect(alerts(page)).to_contain_text("toy.busywhat look events 4 who 4")
    until(lambda: len(told()) == 1)
    page.close()

    served.kill()
    busy(lake, now, "buy")
    busy(lake, now, "look")
    served.start()
    until(lambda: len(told()) == 2)
    page = opened(f"{served.address}/?page=rules")
    expect(alerts(page)).to_contain_text("toy.busywhat buy events 4 who 4")
    # Whatever was told already was judged again by now.
    busy(lake, now, "leave")
    expect(alerts(page)).to_contain_text("what leave")
    until(lambda: len(told()) == 3)
    assert kept(settings) == sorted(one["id"] for one in told())
    assert [(one["rule"], one["source"]) for one in told()] == [("toy.busy", "toy.events_by_what")] * 3
    page.close()
