"""One Chromium for a module and one lake for the run. No Chromium: these tests fail and say so, they do not hide."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser import server
from browser.lake import Lake, history
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from penstock.ops.load import browser

# Other tests may have the machine: what is waited for comes in a blink on a quiet one.
expect.set_options(timeout=60_000)
HOSTILE = '{"url": "<img src=x onerror=alert(1)>"}'
REJECTED = [{"partition": 1, "offset": 7, "received_at": "2026-01-01T00:00:00Z", "reason": "bad_url", "raw": HOSTILE}]


# Not for the run: while its driver is open, no other test may start an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def lake() -> Lake:
    return Lake(history(days=14, total=6_000), REJECTED)


@pytest.fixture(scope="session")
def address(lake: Lake) -> Iterator[str]:
    with server.served(lake) as address:
        yield address


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page; what the browser logs as an error, or the policy refuses, fails the test at its end."""
    complaints: list[str] = []
    pages: list[Page] = []

    def open_page(address: str, width: int = 1280, height: int = 900, expected: str = "", **options: Any) -> Page:
        """`expected`: what the browser may complain of, such as an answer of 401."""
        page = chromium.new_page(viewport={"width": width, "height": height}, **options)
        page.set_default_timeout(60_000)

        def complain(said: ConsoleMessage) -> None:
            if said.type == "error" and not (expected and expected in said.text):
                complaints.append(said.text)

        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog opened: {dialog.message}"))
        pages.append(page)
        page.goto(address)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []
