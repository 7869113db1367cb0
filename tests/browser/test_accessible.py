"""Who reads with the keyboard, a screen reader or weak eyes has the same console: names, focus, contrast, titles."""

from itertools import pairwise
from pathlib import Path

import pytest
from browser.lake import Lake
from browser.opening import Opened
from browser.server import served
from browser.test_console import PAGES, pageview
from playwright.sync_api import Page, expect

FAINT = Path(__file__).with_name("faint.js").read_text().partition("\n")[2]
HELD = """() => {
  const one = document.activeElement;
  const ring = getComputedStyle(one);
  const name = one.getAttribute("aria-label") || one.closest("label")?.textContent || one.textContent;
  const seen = ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 2;
  return one === document.body ? null : { seen, name: name.trim() };
}"""
HEADINGS = "() => [...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))"


def shown(page: Page) -> None:
    page.wait_for_selector("main:not([aria-busy]) .card")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_text_stands_out_from_what_lies_under_it(opened: Opened, address: str, name: str, scheme: str) -> None:
    page = opened(f"{address}/?page={name}&f=page:/boats", 1280, 6000, color_scheme=scheme)
    shown(page)
    assert page.evaluate(FAINT) == []


def test_each_page_says_what_it_is_once(opened: Opened, address: str) -> None:
    page = opened(address)
    titles = []
    for name in PAGES:
        page.goto(f"{address}/?page={name}")
        shown(page)
        titles.append(page.title())
        levels = page.evaluate(HEADINGS)
        assert (levels[0], levels.count(1)) == (1, 1), name
        assert all(after <= before + 1 for before, after in pairwise(levels)), name
    assert len({*titles}) == len(PAGES)
    assert titles[0] == "harbour.example · Web · Penstock"


@pytest.mark.parametrize("name", PAGES)
def test_all_that_tab_reaches_has_a_name_and_a_ring(opened: Opened, address: str, name: str) -> None:
    page = opened(f"{address}/?page={name}")
    shown(page)
    reached = []
    page.keyboard.press("Tab")
    while (held := page.evaluate(HELD)) and len(reached) < 300:
        reached.append(held)
        page.keyboard.press("Tab")
    assert len(reached) >= 8
    assert [one for one in reached if not (one["seen"] and one["name"])] == []


CHOSEN = {"[data-key='Bounce rate']": "Enter", "select[data-key=Range]": "ArrowUp", "#nav a": "Enter"}


@pytest.mark.parametrize(("reached", "key"), CHOSEN.items(), ids=("number", "range", "page"))
def test_who_chooses_with_the_keyboard_goes_on_from_there(opened: Opened, address: str, reached: str, key: str) -> None:
    page = opened(f"{address}/?range=30d")
    shown(page)
    page.locator(reached).first.focus()
    page.keyboard.press(key)
    shown(page)
    expect(page.locator(reached).first).to_be_focused()


def test_a_finger_finds_the_certificate_of_the_number_that_is_charted(opened: Opened, address: str) -> None:
    page = opened(f"{address}/?range=30d", 390, 844, has_touch=True, is_mobile=True)
    page.locator("[data-key=Visits]").tap()
    expect(page.locator(".chart-note")).to_contain_text("Visits")
    shown(page)
    note = page.locator(".chart-note .about")
    note.scroll_into_view_if_needed()
    note.tap()
    expect(page.locator("#tip")).to_contain_text("Sessions that started.")


def test_who_wants_no_motion_sees_none(opened: Opened) -> None:
    lake = Lake()
    lake.add(pageview())
    with served(lake) as address:
        page = opened(f"{address}/?range=live", reduced_motion="reduce")
        assert page.locator(".beating .dot").evaluate("one => getComputedStyle(one).animationName") == "none"
        page.close()


def test_a_live_change_leaves_the_focus_and_the_words_of_what_has_it(opened: Opened) -> None:
    lake = Lake()
    lake.add(pageview(visitor="first"))
    with served(lake) as address:
        page = opened(f"{address}/?range=live")
        shown(page)
        page.keyboard.press("Tab")
        number = page.locator("[data-key='Unique visitors']")
        number.focus()
        expect(page.locator("#tip")).to_contain_text("Unique visitors: 1")
        lake.add(pageview(visitor="second"))
        expect(number).to_contain_text("2")
        expect(number).to_be_focused()
        expect(page.locator("#tip")).to_contain_text("Unique visitors: 2")
        page.close()
