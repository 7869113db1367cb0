"""One Chromium for a module and one lake for the run.

Where there is no Chromium, these tests are left out, loudly (tests/conftest.py).
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from browser import server
from browser.lake import Lake, ada, crowd, history
from browser.opening import Opened, opening
from playwright.sync_api import Browser, expect

from penstock.ops.load import browser

# Other tests may have the machine: what is waited for comes in a blink on a quiet one.
expect.set_options(timeout=60_000)
HOSTILE = b'{"url": "<img src=x onerror=alert(1)>"}'
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
REJECTED = [{"partition": 1, "offset": 7, "logged_at": MOMENT, "reason": "bad_url", "raw": HOSTILE}]


# Not for the run: while its driver is open, no other test may start an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def lake() -> Lake:
    """Five weeks, of which yesterday had an hour that was unlike the others; and a user of whom all is known."""
    told = [history(days=35, total=6_000), ada(), {"web.events": crowd()}]
    events = {name: [event for one in told for event in one.get(name, [])] for name in told[0]}
    return Lake(events, REJECTED)


@pytest.fixture(scope="session")
def address(lake: Lake) -> Iterator[str]:
    with server.served(lake) as address:
        yield address


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Opened]:
    with opening(chromium) as open_page:
        yield open_page
