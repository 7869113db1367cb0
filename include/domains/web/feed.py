"""Sends a believable site's events to the collector, live or as history. Imports no Spark.

python -m domains.web.feed --rate 50 --for 180 --collector http://127.0.0.1:8090 [--history 30 --events 200000]
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from random import Random

import httpx

from domains.web.simulation import Event, Sent, events, rhythm

# The collector takes 500 events a request; live, a quarter of a second is sent at once.
BATCH = 400
TICK = 0.25
WRONG: tuple[Callable[[Event], Event], ...] = (
    lambda event: event | {"url": "not an address"},
    lambda event: event | {"type": "click"},
    lambda event: {name: value for name, value in event.items() if name != "site"},
    lambda event: event | {"load_ms": "fast"},
    lambda event: event | {"happened_at": "2019-01-01T00:00:00Z"},
)


class FeedError(RuntimeError):
    """The collector did not take the events; the message says what it answered."""


def run(collector_url: str, rate: float, seconds: float, seed: int = 1, wrong_share: float = 0.0) -> int:
    """Sends `rate` events a second for `seconds`; returns how many the collector accepted."""
    chance = Random(seed)  # noqa: S311
    accepted, started = 0, time.monotonic()
    now = datetime.now(UTC)
    # A quarter of an hour before now, so that the first second already has visits of every age; and the rate is
    # what was asked for at this hour, not over the week.
    stream = events(seed, now - timedelta(minutes=15), rate / rhythm(now))
    with httpx.Client(base_url=collector_url, timeout=30) as client:
        next(sent for sent in stream if sent.at >= now)
        for batch in due_of(stream):
            accepted += send(client, _spoilt(batch, chance, wrong_share))
            if time.monotonic() - started >= seconds:
                return accepted
    return accepted


def history(collector_url: str, days: float, total: int, seed: int = 1, until: datetime | None = None) -> int:
    """Sends about `total` events of the past `days`, as fast as the collector takes them."""
    until = until or datetime.now(UTC)
    start = until - timedelta(days=days)
    launch = until - timedelta(days=days / 3)
    past = (sent for sent in events(seed, start, total / (days * 86400), launch))
    accepted = 0
    with httpx.Client(base_url=collector_url, timeout=60) as client:
        while batch := [sent for sent in islice(past, BATCH) if sent.at < until]:
            accepted += send(client, batch)
    return accepted


def send(client: httpx.Client, batch: Iterable[Sent]) -> int:
    """Posts a batch, source by source. A busy collector is waited for; a refusal is an error."""
    accepted = 0
    by_source = sorted(batch, key=lambda sent: sent.source)
    for source, group in groupby(by_source, key=lambda sent: sent.source):
        accepted += _post(client, source, [sent.event for sent in group])
    return accepted


def _post(client: httpx.Client, source: str, batch: list[Event]) -> int:
    for _ in range(20):
        answer = client.post(f"/v1/{source}", json=batch)
        if answer.status_code not in (429, 503):
            break
        time.sleep(min(5.0, float(answer.headers.get("Retry-After", 1))))
    if answer.status_code not in (200, 202, 207):
        raise FeedError(f"{source}: the collector answered {answer.status_code}: {answer.text[:300]}")
    return int(answer.json()["accepted"])


def due_of(stream: Iterator[Sent]) -> Iterator[list[Sent]]:
    """What has become due, tick by tick, for ever; where more is due than a request takes, without a pause."""
    following = next(stream)
    while True:
        due, now = list[Sent](), datetime.now(UTC)
        while following.at <= now and len(due) < BATCH:
            due.append(following)
            following = next(stream)
        yield due
        if len(due) < BATCH:
            time.sleep(TICK)


def _spoilt(batch: list[Sent], chance: Random, share: float) -> list[Sent]:
    """Some events become wrong in a way that shapes must catch."""
    for sent in batch:
        if sent.source == "web.events" and chance.random() < share:
            sent.event = chance.choice(WRONG)(sent.event)
    return batch


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m domains.web.feed", description=__doc__)
    parser.add_argument("--collector", default="http://127.0.0.1:8090")
    parser.add_argument("--rate", type=float, default=50, help="events a second")
    parser.add_argument("--for", dest="seconds", type=float, default=180, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wrong", type=float, default=0.0, help="share of events that are wrong, 0 to 1")
    parser.add_argument("--history", type=float, default=0, help="send the past N days first")
    parser.add_argument("--events", type=int, default=50_000, help="events of that history")
    given = parser.parse_args(arguments)
    if given.history:
        print(f"history: {history(given.collector, given.history, given.events, given.seed)} events accepted")  # noqa: T201
    print(f"live: {run(given.collector, given.rate, given.seconds, given.seed, given.wrong)} events accepted")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
