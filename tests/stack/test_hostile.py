"""Two hundred hostile strings through the collector, the log and the shape to the page in a real browser: text."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from browser.opening import Opened, every_tab, opening
from factories.hostile import MARKUP, STRINGS, turned
from operators import BROWSER
from playwright.sync_api import Browser, expect
from standing import RunningStack, eventually

from penstock.ops.load import browser

from .test_answers import PATIENCE, ask

SITES = ("left.hostile.example", "right.hostile.example")
# Of which the page shows about a quarter: each list has nine rows.
MANY = 40


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as started:
        yield started


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Opened]:
    with opening(chromium) as open_page:
        yield open_page


def event(number: int) -> dict[str, Any]:
    """A page view, or a custom event, with another hostile string in each field that anybody may fill."""
    site = SITES[number % len(SITES)]
    texts = ("title", "region", "country", "language", "screen", "experiment", "variant", "name")
    said = {name: turned(number, by) for by, name in enumerate(texts)}
    tags = "&".join(
        f"utm_{tag}={quote(turned(number, by))}" for by, tag in ((9, "campaign"), (10, "source"), (11, "term"))
    )
    return {
        # First, for pages show how a record begins.
        "type": "event" if number % 4 > 1 else "pageview",
        **said,
        "site": site,
        "visitor": f"hostile-{number}",
        # As it is: what looks like a query or a fragment would end the path.
        "url": f"https://{site}/{turned(number, 8).replace('?', '').replace('#', '')}?{tags}",
        "referrer": f"https://evil.example/{turned(number, 12)}",
        "user_agent": f"{BROWSER} {turned(number, 13)}",
    }


def disposed(stack: RunningStack, events: list[dict[str, Any]]) -> Counter[str]:
    """What became of events, once something has."""
    edge = stack.url("collector", "/v1/web.events")
    receipt = stack.url("collector", f"/v1/receipts/{ask(edge, events, 'respond-async')[1]['receipt']}")
    assert eventually(lambda: ask(receipt)[1]["settled"], PATIENCE)
    return Counter(one["stage"] for one in ask(receipt)[1]["events"])


def test_what_an_attacker_sends_is_text_on_every_page(stack: RunningStack, opened: Opened) -> None:
    assert disposed(stack, [event(number) for number in range(len(STRINGS))]) == {"fact": len(STRINGS)}
    wrong = [{**event(number), "type": turned(number, 14)} for number in range(100)]
    assert disposed(stack, wrong) == {"rejected": len(wrong)}
    shown: set[str] = set()
    for site in SITES:
        page = opened(stack.url("serve", f"/?range=live&scope={site}"))
        expect(page.locator(".lists .row").first).to_be_visible(timeout=PATIENCE * 1000)
        for _, panel in every_tab(page):
            shown |= {one.strip().removeprefix("/") for one in panel.locator(".row .name").all_inner_texts()}
        expect(page.locator(".goals tbody tr").first).to_be_visible()
        shown |= set(page.locator(".report td:first-child").all_inner_texts())
        assert (page.evaluate("window.hacked"), page.locator(MARKUP).count()) == (None, 0)
    assert len({*STRINGS} & shown) > MANY
    page.goto(stack.url("serve", "/?page=rejected"))
    expect(page.locator("summary").first).to_be_visible()
    # Every record is unfolded.
    page.evaluate("document.querySelectorAll('details').forEach((record) => { record.open = true; })")
    expect(page.locator("code", has_text=json.dumps(turned(99, 14))[1:30]).first).to_be_visible()
    records = "\n".join(page.locator("code").all_inner_texts())
    assert sum(json.dumps(one["type"], ensure_ascii=False)[1:-1] in records for one in wrong) > MANY
    assert (page.evaluate("window.hacked"), page.locator(MARKUP).count()) == (None, 0)
