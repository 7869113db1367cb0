"""Each tier of the pipeline says what flows, how old it is, and whether it is well: in words, not by colour."""

from datetime import UTC, datetime, timedelta
from typing import Any

from browser.lake import Lake
from browser.opening import Opened
from browser.server import served
from browser.test_console import pageview
from playwright.sync_api import Page, expect

TIERS = ("Collection", "Log", "Shape", "Lake", "Delivery")


def tier(page: Page, name: str) -> Any:
    return page.locator(".tiers li").nth(TIERS.index(name))


def test_each_tier_says_what_flows_and_how_it_is(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?page=pipeline")
    # Two looks make a rate.
    for name in ("Collection", "Log", "Shape"):
        expect(tier(page, name)).to_contain_text("a second")
        expect(tier(page, name).locator(".mark.good")).to_have_text("✓ well")
    expect(tier(page, "Lake").locator(".mark.bad")).to_have_text("✗ 1 of 11 closed source-hours does not balance")
    expect(tier(page, "Delivery").locator(".mark.good")).to_have_text("✓ well")
    expect(tier(page, "Delivery")).to_contain_text("s ago")


def test_nothing_is_called_well_before_there_is_anything(opened: Opened) -> None:
    with served(Lake()) as address:
        page = opened(f"{address}/?page=pipeline")
        for name in TIERS:
            expect(tier(page, name).locator(".mark")).to_contain_text("○")
        page.close()


class Ill(Lake):
    """Records that the log lost, a stream that failed and one that sleeps, and a view that cannot be read."""

    def hours(self, source: str | None = None) -> dict[str, Any]:
        return {"hours": [{**hour, "lost": 2} for hour in super().hours()["hours"]]}

    def standing(self) -> dict[str, Any]:
        said = super().standing()
        archive, shape = said["streams"]
        failed = {**archive, "state": "failed", "sentence": "the disk is full"}
        asleep = {**shape, "at": datetime.now(UTC) - timedelta(minutes=5)}
        return {**said, "streams": [failed, asleep], "problems": {"web.visits": "a file is gone"}}


def test_each_tier_says_what_is_wrong_with_it(opened: Opened) -> None:
    with served(Ill({"web.events": [pageview()]})) as address:
        page = opened(f"{address}/?page=pipeline")
        said = {
            "Collection": "✗ 24 went from the log before they were archived",
            "Log": "✗ archive-web.events failed: the disk is full",
            "Shape": "✗ shape-web.events says nothing since",
            "Lake": "✗ 1 of 11 closed source-hours does not balance",
            "Delivery": "✗ cannot be read: web.visits",
        }
        for name, words in said.items():
            expect(tier(page, name).locator(".mark.bad")).to_contain_text(words)
        page.close()


NOW = {"job": "shape-web.events", "at": "9999-01-01T00:00:00Z"}
JUDGED = [
    ("streaming", ["shape", [{**NOW, "lag_seconds": 240}]], "shape-web.events is 4 min behind"),
    ("streaming", ["archive", [NOW]], "no stream has said anything yet"),
    ("collection", [None], "the log does not say what it took"),
    ("collection", [[{"open": False}]], "nothing has come this hour"),
    ("lake", [None], "the ledger cannot be read"),
    ("lake", [[{"open": True}]], "no hour is closed yet"),
    ("delivery", [{"epochs": {"v": 1}, "streams": [{**NOW, "lag_seconds": 70}]}], "what is read is 70 s old"),
]
JUDGE = "async ([what, given]) => (await import('/console/health.js'))[what](...given).words"


def test_a_tier_is_judged_by_what_was_said_of_it(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?page=audit")
    assert [page.evaluate(JUDGE, [what, given]) for what, given, _ in JUDGED] == [words for *_, words in JUDGED]
