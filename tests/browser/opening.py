"""Opens pages as people do, and listens to what the browser complains of meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

Opened = Callable[..., Page]
# What Chromium logs where a page is left while its socket opens: whoever reloads quickly does no wrong.
LEFT = "WebSocket is closed before the connection is established"


@contextmanager
def opening(chromium: Browser) -> Iterator[Opened]:
    """Gives what opens a page; what the browser logs as an error, or the policy refuses, fails at the end."""
    complaints: list[str] = []
    pages: list[Page] = []

    def open_page(
        address: str, width: int = 1280, height: int = 900, expected: Sequence[str] = (), **options: Any
    ) -> Page:
        """`expected`: what the browser may complain of, such as an answer of 401."""
        page = chromium.new_page(viewport={"width": width, "height": height}, **options)
        page.set_default_timeout(60_000)

        def complain(said: ConsoleMessage) -> None:
            if said.type == "error" and not any(text in said.text for text in (LEFT, *expected)):
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
    assert not complaints, complaints


def every_tab(page: Page) -> Iterator[tuple[str, Locator]]:
    """Clicks each tab of each list; its label, and the panel that it fills."""
    page.wait_for_selector("main:not([aria-busy]) .panel")
    names = page.locator(".tabs button").evaluate_all("all => all.map((one) => one.dataset.key)")
    for name in names:
        tab = page.locator(f'.tabs button[data-key="{name}"]')
        tab.click()
        expect(tab).to_have_attribute("aria-pressed", "true")
        yield name.removeprefix("tab "), page.locator(".lists .panel", has=tab)
