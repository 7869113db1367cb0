"""Event data are hostile: what visitors send is text on the page, whatever it looks like.

Through the collector and the shape as well: tests/stack/test_hostile.py.
"""

from collections.abc import Callable

from browser.lake import Lake
from browser.opening import every_tab
from browser.server import served
from browser.test_console import pageview
from factories.hostile import CALLS, FORMULAS, MARKUP, STRINGS, turned
from playwright.sync_api import Page, expect

FIELDS = ("country", "region", "page", "utm_campaign", "utm_term", "screen", "language", "referrer_source")


def test_there_are_two_hundred_of_them() -> None:
    assert len(set(STRINGS)) >= 200 - len(CALLS)


def test_markup_in_events_stays_text_on_every_list(opened: Callable[..., Page]) -> None:
    lake = Lake()
    said = [{name: turned(number, by) for by, name in enumerate(FIELDS)} for number in range(len(STRINGS))]
    seen = [pageview(visitor=f"v{number}", **fields) for number, fields in enumerate(said)]
    lake.add(*seen, *(pageview(type="event", visitor=f"v{i}", name=text) for i, text in enumerate(STRINGS)))
    with served(lake) as address:
        page = opened(f"{address}/?range=live")
        page.wait_for_selector(".chart svg")
        shown = {one for _, panel in every_tab(page) for one in panel.locator(".row .name").all_inner_texts()}
        expect(page.locator(".goals tbody tr").first).to_be_visible()
        shown |= set(page.locator(".goals td:first-child").all_inner_texts())
        assert len(shown & {*STRINGS}) > 60
        assert page.evaluate("window.hacked") is None
        assert page.locator(MARKUP).count() == 0
        page.close()


def test_a_spreadsheet_is_given_no_formula(opened: Callable[..., Page], address: str) -> None:
    page = opened(address)
    cells = page.evaluate(
        "async (texts) => { const { cell } = await import('/console/csv.js'); return texts.map(cell); }",
        [*FORMULAS, 'say "x"'],
    )
    assert cells == [*(f'"{text}"' for text in FORMULAS.values()), '"say ""x"""']
