"""The system's Chromium, headless, as measurements and tests start it."""

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which
from typing import Any

from penstock.refusal import Refusal

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Without most of these, Chromium asks hosts of its own at every start.
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


@contextmanager
def chromium(**options: Any) -> Iterator[Any]:
    """A browser until the block ends. Where there is none, the error says how to get it."""
    found = next((path for name in NAMES if (path := which(name))), None)
    try:
        # Of the development packages: who only runs the product has no need of it.
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if not found:
        raise Refusal("There is no Chromium, or no Playwright to drive it: apt-get install chromium, and `make setup`.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS), **options)
        yield browser
        browser.close()
