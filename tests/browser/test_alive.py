"""What changes by itself: what comes meanwhile, a server that is lost, a tab that is hidden."""

import pytest
from browser.lake import Lake
from browser.opening import Opened
from browser.server import served
from browser.test_console import PAGES, alerted, pageview
from playwright.sync_api import Browser, expect
from tending import until

from penstock.lake.audit import Entry, record
from penstock.lake.layout import Layout
from penstock.lake.releases import BUILDING, Release, say
from penstock.lake.replaying import Progress

# What a browser does to a page when another tab is chosen.
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_new_fact_is_on_the_screen_by_itself(opened: Opened) -> None:
    lake = Lake()
    lake.add(pageview(visitor="first"))
    with served(lake) as address:
        page = opened(f"{address}/?range=live")
        expect(page.locator(".here")).to_contain_text("1 visitor now")
        lake.add(pageview(visitor="second"))
        expect(page.locator(".here")).to_contain_text("2 visitors now")
        page.close()


def test_a_lost_connection_is_said_on_every_page_and_heals(chromium: Browser, lake: Lake) -> None:
    pages = [chromium.new_page() for _ in PAGES]
    with served(lake) as address:
        for page, name in zip(pages, PAGES, strict=True):
            page.goto(f"{address}/?page={name}")
            page.wait_for_selector("main:not([aria-busy]) .card")
    for page in pages:
        expect(page.locator("#connection")).to_contain_text("lost", timeout=40_000)
    with served(lake, int(address.rsplit(":", 1)[1])):
        for page in pages:
            expect(page.locator("#connection")).to_be_hidden(timeout=60_000)
            page.close()


def test_a_hidden_tab_stops_its_work(opened: Opened) -> None:
    own = Lake({"web.events": [pageview()]})
    with served(own) as address:
        page = opened(address)
        page.wait_for_selector(".number")
        for hidden, listening in ((False, 1), (True, 0), (False, 1)):
            page.evaluate(HIDE, hidden)
            until(lambda listening=listening: own.live.subscribers == listening)  # type: ignore[misc]
        page.close()


@pytest.mark.parametrize(("name", "shown", "again"), [("web", ".empty pre", 1500), ("releases", "progress", 5000)])
def test_a_hidden_tab_asks_nothing_until_it_is_seen(opened: Opened, name: str, shown: str, again: int) -> None:
    """How an empty lake is, and a release that is being built, is asked for after so many milliseconds."""
    lake = Lake()
    say(Layout(str(lake.home / "lake")), Release("web", "r2", BUILDING))
    Progress("web", "r2", 9, sources={"web.events": {"done": 1}}).say("silver", lake.home)
    with served(lake) as address:
        page = opened(f"{address}/?page={name}")
        page.wait_for_selector(shown)
        page.evaluate(HIDE, True)
        page.wait_for_timeout(300)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(again + 300)
        assert asked == []
        page.evaluate(HIDE, False)
        until(lambda: bool(asked))
        page.close()


def test_pipeline_and_rules_are_told_what_is_new_and_do_not_ask_again_and_again(opened: Opened) -> None:
    lake = Lake({"web.events": [pageview()]})
    with served(lake) as address:
        page = opened(f"{address}/?page=rules")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        expect(page.get_by_role("region", name="Alerts")).to_contain_text("Nothing has met an armed rule yet.")
        alerted(lake, page="/slow")
        expect(page.get_by_role("region", name="Alerts")).to_contain_text("page /slow")
        page.get_by_role("link", name="Pipeline").click()
        # Two messages make a rate.
        expect(page.locator(".tiers li").nth(2)).to_contain_text("a second")
        assert [url for url in asked if url.endswith(("/api/status", "/api/ledger"))] == []
        assert len([url for url in asked if "/api/alerts" in url]) <= 3
        page.close()


@pytest.mark.parametrize("name", ["audit", "releases"])
def test_what_is_done_meanwhile_comes_by_itself(opened: Opened, name: str) -> None:
    lake = Lake()
    with served(lake) as address:
        page = opened(f"{address}/?page={name}")
        audit = page.get_by_role("region", name="Audit")
        expect(audit).to_contain_text("Nothing yet")
        until(lambda: lake.live.subscribers == 1)
        record(Layout(str(lake.home / "lake")), Entry("op1", "switch", "web", "ann", "a new rule", "bob"))
        expect(audit.locator("tbody tr")).to_contain_text("switch webanna new rulebob")
        page.close()
