"""Simulated users: the feed of every domain that has one, each a process of the stack's identity."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from penstock.model.domain import domains
from penstock.ops.stack import config
from penstock.ops.stack.home import Home
from penstock.settings import Settings

# Without an end of its own the demo's traffic goes on for a year.
YEAR = 365 * 86_400.0


@contextmanager
def flowing(settings: Settings, home: Home, rate: float, seconds: float | None) -> Iterator[None]:
    """Traffic from now on, a share of it wrong in the ways that real traffic is."""
    feeds = [f"domains.{name}.feed" for name in domains() if find_spec(f"domains.{name}.feed")]
    with (home.logs / "feed.log").open("wb") as log:
        senders = [
            subprocess.Popen(
                [sys.executable, "-m", feed, "--collector", f"http://127.0.0.1:{settings.collector_port}",
                 "--rate", str(rate), "--for", str(seconds or YEAR), "--wrong", "0.02"],
                env=config.environ(settings, home), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
            for feed in feeds
        ]  # fmt: skip
        try:
            yield
        finally:
            for sender in senders:
                sender.kill()
                sender.wait()
