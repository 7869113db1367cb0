"""The console in a real browser: what a person sees, clicks and types."""

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from browser.lake import Broken, Lake
from browser.server import served
from deltalake import write_deltalake
from playwright.sync_api import Page, expect

from penstock.lake.alerts import SCHEMA, book
from penstock.lake.audit import Entry, record
from penstock.lake.layout import Layout
from penstock.lake.releases import BUILDING, READY, Release, say
from penstock.lake.replaying import Progress
from penstock.serve.access.identity import Access

Opened = Callable[..., Page]
# What the door answers; a socket that opens while a session or a link ends is refused by itself.
REFUSED = ("401", "403")
PAGES = ("web", "pipeline", "rejected", "rules", "releases", "audit")


def pageview(**fields: object) -> dict[str, object]:
    now = datetime.now(UTC).isoformat()
    return {
        "type": "pageview",
        "site": "harbour.example",
        "visitor": "new",
        "url": "https://harbour.example/",
        "happened_at": now,
        "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko Firefox/143.0",
        **fields,
    }


def number(page: Page, label: str) -> str:
    return page.locator(".number", has_text=label).locator(".value").inner_text()


def test_the_domain_page_shows_numbers_chart_and_lists(opened: Opened, address: str) -> None:
    page = opened(address)
    expect(page.locator(".chart svg")).to_be_visible()
    expect(page.locator(".number")).to_have_count(6)
    expect(page.locator(".lists .panel")).to_have_count(6)
    expect(page.locator(".lists .row").nth(20)).to_be_visible()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [390, 1920])
def test_each_page_fits_its_screen(opened: Opened, address: str, name: str, width: int) -> None:
    page = opened(f"{address}/?page={name}", width)
    page.wait_for_selector("main:not([aria-busy]) .card")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width


def test_a_click_on_a_row_filters_and_a_click_on_the_filter_takes_it_away(opened: Opened, address: str) -> None:
    page = opened(address)
    before = number(page, "Unique visitors")
    page.locator('[data-key="Pages /boats/dinghy"]').click()
    expect(page.locator(".filters")).to_contain_text("page is /boats/dinghy")
    assert number(page, "Unique visitors") != before
    page.locator(".filters button").click()
    expect(page.locator(".filters")).to_have_count(0)


def test_the_address_says_what_is_seen(opened: Opened, address: str) -> None:
    page = opened(address)
    page.locator("select").nth(1).select_option("24h")
    expect(page).to_have_url(re.compile(r"range=24h"))
    page.locator(".number", has_text="Bounce rate").click()
    expect(page).to_have_url(re.compile(r"measure=bounce_rate"))
    again = opened(page.url)
    expect(again.locator("[aria-pressed=true] .label").first).to_have_text("Bounce rate")


def test_a_young_lake_opens_on_the_range_that_it_fills(opened: Opened, address: str) -> None:
    expect(opened(address).locator("select").nth(1)).to_have_value("7d")
    lake = Lake()
    lake.add(pageview())
    with served(lake) as young:
        page = opened(young)
        # Its first hour may have begun before this one did.
        expect(page.locator("select").nth(1)).to_have_value(re.compile("live|24h"))
        page.locator("select").nth(1).select_option("7d")
        expect(page).to_have_url(re.compile(r"range=7d"))
        page.close()


def test_the_earlier_period_lies_under_this_one(opened: Opened, address: str) -> None:
    page = opened(address)
    page.wait_for_selector(".chart svg")
    lengths = page.evaluate(
        """async () => {
            const { before, buckets } = await import("/console/state.js");
            const day = buckets("30d")[3];
            return [buckets("30d").length, (day - before("30d", day)) / 86400e3, before("today", day) < day];
        }"""
    )
    assert lengths == [30, 30, True]


def test_a_number_carries_its_certificate(opened: Opened, address: str) -> None:
    page = opened(address)
    page.locator(".number").first.focus()
    expect(page.locator("#tip")).to_contain_text("Provisional")
    expect(page.locator("#tip")).to_contain_text("Release r1, no build yet")


def test_an_empty_lake_says_how_to_begin_and_then_begins(opened: Opened) -> None:
    lake = Lake()
    with served(lake) as address:
        page = opened(address)
        expect(page.locator("pre").first).to_contain_text(":8090/v1/web.events")
        lake.add(pageview())
        expect(page.locator(".number").first).to_contain_text("1")
        page.close()


def test_the_keyboard_reaches_what_the_mouse_does(opened: Opened, address: str) -> None:
    page = opened(address)
    page.wait_for_selector(".panel .row")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("[data-key='Pages /prices']").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".filters")).to_contain_text("/prices")


def test_landmarks_and_names_are_there_for_a_screen_reader(opened: Opened, address: str) -> None:
    page = opened(address)
    page.wait_for_selector(".panel")
    for role in ("banner", "navigation", "main", "contentinfo", "heading"):
        assert page.get_by_role(role).count() >= 1, role  # type: ignore[arg-type]
    assert page.locator("button:not([aria-label])").evaluate_all("all => all.every(one => one.textContent.trim())")


def test_what_has_no_rows_says_why(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=30d&f=page:/nowhere")
    expect(page.locator(".lists .panel").first).to_contain_text("No pages in this range. The filters leave none.")
    expect(page.locator(".lists .panel", has_text="not filtered by page").first).to_be_visible()


def test_what_cannot_be_read_does_not_take_the_rest_away(opened: Opened) -> None:
    with served(Broken({"web.events": [pageview()]})) as address:
        page = opened(address, expected=["503"])
        expect(page.locator(".number", has_text="Bounce rate")).to_contain_text("cannot be read")
        expect(page.locator(".number", has_text="Unique visitors").locator(".value")).to_have_text("1")
        expect(page.locator(".chart svg")).to_be_visible()
        page.goto(f"{address}/?page=pipeline")
        expect(page.locator("section[aria-label=Ledger] [role=alert]")).to_contain_text("the log does not answer")
        expect(page.locator("section[aria-label=Streams]")).to_contain_text("shape-web.events")
        page.close()


def test_the_rejected_page_shows_records_as_text(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?page=rejected")
    expect(page.locator("code").first).to_contain_text("<img src=x onerror")
    assert page.locator("main img").count() == 0


def test_an_hour_that_does_not_balance_says_by_how_much(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?page=pipeline")
    expect(page.locator("section[aria-label=Ledger] td .bad")).to_have_text("✗ 3 not shaped")


def test_the_pipeline_page_says_what_works_behind_the_numbers(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?page=pipeline")
    gates = page.locator("section[aria-label=Gates]")
    expect(gates.locator("tr", has_text="web.sources")).to_contain_text("✗ refused")
    expect(gates.locator("tr", has_text="web.pageviews")).to_contain_text("✓ passed")
    link = page.locator("section[aria-label='Under way in Airflow'] a")
    assert (link.get_attribute("href") or "").endswith("/dags/streams/runs/scheduled__2026-11-18")
    expect(page.locator("section[aria-label=Storage] tr", has_text="web.pageviews_by_region")).to_contain_text("kB")
    # Two looks make a rate.
    expect(page.locator(".tiers li").nth(2)).to_contain_text("a second")


def test_another_machine_meets_the_door_and_each_role_its_own_page(opened: Opened, lake: Lake) -> None:
    (lake.home / "console.toml").write_text('login = "always"')
    passwords = json.loads((lake.home / "passwords.json").read_text())
    with served(lake) as address:
        for user, shares in {"analyst": 0, "oncall": 0, "admin": 1}.items():
            page = opened(address, expected=REFUSED)
            page.get_by_label("Name").fill(user)
            page.get_by_label("Password").fill(passwords[user])
            page.get_by_role("button", name="Log in").last.click()
            expect(page.locator(".panel").first).to_be_visible()
            assert page.get_by_role("button", name="Share").count() == shares
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_label("Password")).to_be_visible()
            page.close()
    (lake.home / "console.toml").unlink()


def test_a_link_shows_one_site_and_revoked_shows_none(opened: Opened, lake: Lake) -> None:
    (lake.home / "console.toml").write_text('login = "always"')
    shares = Access(lake.home).shares
    share, token = shares.make("web", "docs.harbour.example", "admin")
    with served(lake) as address:
        page = opened(f"{address}/share/{token}", expected=REFUSED)
        expect(page.locator(".chart svg")).to_be_visible()
        assert page.locator("select").first.inner_text().split() == ["docs.harbour.example"]
        assert page.locator("#nav a").count() == 1
        shares.revoke(share.id)
        page.reload()
        expect(page.get_by_label("Password")).to_be_visible()
        page.close()
    (lake.home / "console.toml").unlink()


def test_any_days_can_be_looked_at_and_their_link_kept(opened: Opened, address: str) -> None:
    last = datetime.now(UTC).date() - timedelta(days=2)
    days = f"{last - timedelta(days=2)}..{last}"
    page = opened(f"{address}/?range={days}")
    expect(page.locator(".chart svg")).to_be_visible()
    assert page.get_by_label("Last day").input_value() == str(last)
    assert page.evaluate("async (days) => (await import('/console/state.js')).buckets(days).length", days) == 72
    page.get_by_label("First day").fill(str(last))
    expect(page).to_have_url(re.compile(f"{last}..{last}"))


def test_what_was_done_to_the_lake_marks_the_chart(opened: Opened) -> None:
    lake = Lake()
    lake.add(pageview())
    record(Layout(str(lake.home / "lake")), Entry("op1", "switch", "web", "ann", "a new rule", "bob"))
    with served(lake) as address:
        page = opened(f"{address}/?range=24h")
        expect(page.locator(".chart svg .mark-rule.role-mark line")).to_have_count(1)
        page.locator("[data-key=marks]").focus()
        expect(page.locator("#tip")).to_contain_text(re.compile("switch web: .*, ann: a new rule"))
        page.close()


def alerted(lake: Lake, **fact: str) -> None:
    """A rule has found a fact."""
    row = {"id": "1", "rule": "web.slow_page", "version": 1, "fact": json.dumps(fact), "happened_at": datetime.now(UTC)}
    write_deltalake(book(Layout(str(lake.home / "lake")).alerts()), pa.Table.from_pylist([row], SCHEMA), mode="append")


def test_the_rules_page_shows_rules_and_what_they_told_as_text(opened: Opened) -> None:
    lake = Lake()
    alerted(lake, page="<img src=x onerror=alert(1)>")
    with served(lake) as address:
        page = opened(f"{address}/?page=rules")
        expect(page.get_by_role("region", name="Rules")).to_contain_text("web.slow_page, version 1")
        expect(page.get_by_role("region", name="Alerts")).to_contain_text("page <img src=x onerror")
        assert page.locator("main img").count() == 0
        page.close()


def test_the_releases_page_compares_two_and_says_how_far_a_third_is(opened: Opened) -> None:
    lake = Lake({"web.events": [pageview(visitor="first"), pageview(visitor="second")]})
    layout = Layout(str(lake.home / "lake"))
    for tier in ("silver", "speed"):
        shutil.copytree(f"{layout.root}/{tier}/r1", f"{layout.root}/{tier}/r2")
    say(layout, Release("web", "r2", READY, code="git abc"))
    say(layout, Release("web", "r3", BUILDING, code="git def"))
    replay = Progress("web", "r3", 5000, sources={"web.events": {"done": 1250}})
    replay.say("silver", lake.home)
    with served(lake) as address:
        page = opened(f"{address}/?page=releases")
        far = page.locator("tr", has_text="git def").get_by_role("progressbar", name="1,250 of 5,000 records")
        expect(far).to_have_attribute("value", "0.25")
        expect(page.locator("tr", has_text="git abc")).to_contain_text("ready, kept up until")
        page.get_by_role("button", name="Compare with r1").click()
        compared = page.get_by_role("region", name="Comparison")
        expect(compared).to_contain_text("web: r1 and r2")
        expect(compared).to_contain_text("Both answer the same.")
        expect(compared.locator("tr", has_text="web.pageviews_by_region")).to_contain_text("the same")
        page.close()


def test_the_audit_page_says_who_did_what_and_why(opened: Opened) -> None:
    lake = Lake()
    record(Layout(str(lake.home / "lake")), Entry("op1", "switch", "web", "ann", "a new rule", "bob"))
    with served(lake) as address:
        page = opened(f"{address}/?page=audit")
        expect(page.locator("tbody tr")).to_contain_text("switch webanna new rulebob")
        page.close()


def test_the_chart_is_given_as_a_picture(opened: Opened, address: str) -> None:
    page = opened(address)
    expect(page.locator(".chart svg")).to_be_visible()
    with page.expect_download() as given:
        page.get_by_role("button", name="PNG").click()
    assert given.value.suggested_filename == "web-visitors-7d.png"
