"""Simulated users: the feed of every domain that has one, each a process of the stack's identity."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from penstock.model.domain import domains
from penstock.ops.stack import config
from penstock.ops.stack.home import Home
from penstock.settings import Settings

# Without an end of its own the demo's traffic goes on for a year.
YEAR = 365 * 86_400.0


@dataclass(frozen=True)
class Traffic:
    """Events a second, for how long (`None`: until somebody stops it), and which share is wrong as real traffic is."""

    rate: float
    seconds: float | None
    wrong: float


@contextmanager
def flowing(settings: Settings, home: Home, traffic: Traffic) -> Iterator[None]:
    """Traffic from now on."""
    feeds = [f"domains.{name}.feed" for name in domains() if find_spec(f"domains.{name}.feed")]
    with (home.logs / "feed.log").open("wb") as log:
        senders = [
            subprocess.Popen(
                [sys.executable, "-m", feed, "--collector", f"http://127.0.0.1:{settings.collector_port}",
                 "--rate", str(traffic.rate), "--for", str(traffic.seconds or YEAR), "--wrong", str(traffic.wrong)],
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
