"""Quick variants of benchmarks whose parts start in a second or two: each runs, is right, and has a figure's shape.

What they measure here says nothing: only `penstock bench` on a quiet machine does.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from browser.lake import AGENT
from web_lake import WebLake

from penstock.lake.layout import Layout
from penstock.ops.bench import Figure, console, ingest, live, serve
from penstock.ops.load import browser, flink
from penstock.ops.rig import serving
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

SHAPE = ["name", "figure", "ours", "peer", "ratio", "goal", "met", "gate_ok", "load", "detail"]


def check(figures: Iterable[Figure], count: int) -> None:
    told = [figure.as_dict() for figure in figures]
    assert [list(one) for one in told] == [SHAPE] * count
    assert all(one["gate_ok"] for one in told), [one for one in told if not one["gate_ok"]]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with a handful of everything."""
    for module in (serve, live):
        monkeypatch.setattr(module, "EPOCHS", 2)
    for name, value in (("QUICK_A_DAY", 20), ("QUICK_SECONDS", 1), ("CLIENTS", 2), ("ROUNDS", 2)):
        monkeypatch.setattr(serve, name, value)
    for name, value in (("SUBSCRIBERS", 4), ("ARRIVING", 2), ("QUICK_PUSHES", 3), ("A_DAY", 10)):
        monkeypatch.setattr(live, name, value)
    for name, value in (("OPENED", 1), ("QUICK_CHANGES", 2), ("APART", 0.2), ("QUICK_KEPT", 1.0)):
        monkeypatch.setattr(console, name, value)


@pytest.mark.usefixtures("small")
def test_serve_answers_and_its_peers_agree() -> None:
    check(serve.run(quick=True), 3)


@pytest.mark.usefixtures("small")
def test_every_subscriber_hears_of_every_epoch() -> None:
    check(live.run(quick=True), 1)


@pytest.mark.skipif(not flink.version(), reason="NO FLINK HERE, so it was not compared with silver: `make flink`")
def test_flink_and_silver_say_the_same_of_each_record() -> None:
    check(ingest.ingested(2_000), 3)


@pytest.mark.usefixtures("small")
def test_the_console_shows_what_the_api_tells(settings: Settings) -> None:
    """Over facts in speed alone: a build takes the minute that this may not."""
    ours = replace(settings, serve_port=free_port())
    days = [console.LAST - timedelta(days=number % 5, hours=number) for number in range(12)]
    page = {"type": "pageview", "site": console.SITE, "url": "https://a.example/p1", "user_agent": AGENT}
    seen = [{**page, "visitor": f"v{number % 7}", "happened_at": at} for number, at in enumerate(days)]
    WebLake(Layout(ours.lake)).tell(seen)
    with serving(ours), browser.chromium() as chromium:
        address = f"http://127.0.0.1:{ours.serve_port}"
        check(console.painted(chromium, address, len(seen)), 4)
        check(console.followed(ours, chromium, address, quick=True), 2)
