"""Holds the leases of streams while their tables are changed under them; the streams' driver is asked to end first."""

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from penstock.engine.lease import LeaseTaken, ask_to_end, leases_in, take
from penstock.lake.layout import Layout
from penstock.lake.releases import kept
from penstock.model.source import Source

# A driver ends between two epochs; one that is cut off from its log takes the longest.
PATIENCE = 120.0
# Often enough to be quicker than the driver that Airflow starts at once, which takes seconds.
LOOK_SECONDS = 0.1
# A driver that began after it was asked does not mind it, so it is asked again.
ASK_SECONDS = 2.0


def shapes_of(layout: Layout, source: Source) -> list[str]:
    """The leases of a source's shapes, in every release that is kept up."""
    return [f"shape-{source.name}-{release}" for release in kept(layout, source.domain)]


@contextmanager
def halted(home: Path, leases: Iterable[str], patience: float = PATIENCE) -> Iterator[None]:
    """No stream of these runs inside; a driver that is started meanwhile finds its lease taken and comes again."""
    with ExitStack() as held:
        for name in leases:
            held.enter_context(_taken(home, name, patience))
        yield


@contextmanager
def _taken(home: Path, name: str, patience: float) -> Iterator[None]:
    limit, asked = time.monotonic() + patience, 0.0
    while True:
        try:
            lease = take(leases_in(home), name)
            break
        except LeaseTaken:
            if time.monotonic() > limit:
                raise
        if time.monotonic() - asked > ASK_SECONDS:
            asked = time.monotonic()
            ask_to_end(leases_in(home), [name])
        time.sleep(LOOK_SECONDS)
    with lease:
        yield
