"""Every list and every report of the domain's page is answered, or says why there is nothing."""

import re

from browser.lake import crowd
from browser.opening import Opened, every_tab
from playwright.sync_api import Page, expect

from domains.web import funnel, site
from domains.web.charts import PAGE
from domains.web.views import CAMPAIGNS

# What the simulated site has nothing of.
EMPTY = {"Contents", "Terms"}


def report(page: Page, title: str) -> str:
    """What a report shows, once it shows something."""
    body = page.locator(f"section[aria-label='{title}'] .rows")
    expect(body.locator("tbody tr, ol li, .big").first).to_be_visible()
    return body.inner_text()


def test_each_tab_has_rows_or_says_why_it_has_none(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=30d")
    shown = {}
    for label, panel in every_tab(page):
        expect(panel.locator(".row").first if label not in EMPTY else panel.locator(".nothing")).to_be_visible()
        shown[label] = panel.locator(".rows").inner_text()
    assert set(shown) == {one.label for one in PAGE.lists}
    assert {label for label, text in shown.items() if text.startswith(f"No {label.lower()} in this range.")} == EMPTY
    assert shown["Terms"].endswith(CAMPAIGNS.doc)
    assert re.search(r"A reading\n+/.*\n[\d.]+ s", shown["Read for"])


def test_the_rest_of_a_list_is_a_click_away_and_its_button_keeps_the_focus(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=30d")
    pages = page.locator("section[aria-label=Pages]")
    expect(pages.locator(".row")).to_have_count(9)
    more = pages.get_by_role("button", name=re.compile(r"Show all \d+ of Pages"))
    all_of_them = int(re.sub(r"\D", "", more.inner_text()))
    more.press("Enter")
    expect(pages.locator(".row")).to_have_count(all_of_them)
    fewer = pages.get_by_role("button", name="Show 9 of Pages")
    expect(fewer).to_be_focused()
    fewer.press("Enter")
    expect(pages.locator(".row")).to_have_count(9)


def test_each_report_is_answered(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=30d")
    told = {one.title: report(page, one.title) for one in PAGE.reports}
    assert re.findall(r"^[A-Z].*", told["Funnel"], re.MULTILINE) == ["Visited", *(words for words, _ in funnel.STEPS)]
    expect(page.locator(".goals tbody tr")).to_have_count(len(site.GOALS))
    assert "100 %" in told["Who comes back"]
    assert "book-button" in told["Experiments"]
    assert "visitor ids" in told["People"]
    assert re.search(r"^captain\s", told["Plans of users"], re.MULTILINE)
    assert re.search(r"^Lofoten\s+30\s+1$", told["Regions of users"], re.MULTILINE)
    page.locator(".funnel .about").hover()
    expect(page.locator("#tip")).to_contain_text("How far sessions came")


def test_each_number_of_a_report_carries_its_certificate(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=30d")
    page.wait_for_load_state("networkidle")
    for one in PAGE.reports:
        section = page.locator(f"section[aria-label='{one.title}']")
        section.locator("tbody td:last-child, .count, .big b").first.hover()
        expect(page.locator("#tip")).to_contain_text(one.doc)
        expect(page.locator("#tip")).to_contain_text("Release r1")
        section.get_by_role("heading").hover()
        expect(page.locator("#tip")).to_be_hidden()


def test_the_hour_that_was_unlike_its_past_is_named(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=7d")
    first = crowd(1)[0]["happened_at"]
    said = page.evaluate("async (at) => (await import('/console/format.js')).moment(at, false)", first)
    row = page.locator(".unusual tbody tr", has_text=said)
    expect(row).to_contain_text("▲")
    assert int(row.locator("td").nth(1).inner_text()) >= len(crowd())
