"""Seeded traffic of `web.events` with everything in it that goes wrong: repeats, collisions, late, wrong, broken."""

import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

Event = dict[str, Any]
DAY = timedelta(days=1)
# How often each kind comes, of a hundred.
KINDS = {
    "good": 60, "repeat": 10, "collision": 4, "late": 6, "nameless": 4, "ahead": 2,
    "broken": 4, "wrong": 8, "old": 1, "future": 1,
}  # fmt: skip
BROKEN = (b"", b"{", b"\xff\xfe\x00", b"[1, 2]", b'"text"', b"12", b"null", b'{"type": "pageview"} x', b"{]" * 200)


@dataclass(frozen=True)
class Sent:
    """One record as a sender gives it to the log."""

    key: bytes
    value: bytes
    headers: dict[str, str]


def traffic(seed: int, count: int) -> Iterator[Sent]:
    """Always the same kinds in the same order for a seed; times follow the clock, for that is what is judged."""
    chance = random.Random(seed)  # noqa: S311
    earlier: list[Sent] = []
    for number in range(count):
        kind = chance.choices([*KINDS], [*KINDS.values()])[0]
        sent = _sent(kind, f"{seed}-{number}", chance, earlier)
        # What is wrong is sent again as well: it is rejected again, and takes nobody's id.
        if kind in ("good", "late", "wrong"):
            earlier.append(sent)
        yield sent


def _sent(kind: str, name: str, chance: random.Random, earlier: list[Sent]) -> Sent:
    if kind in ("repeat", "collision") and earlier:
        original = chance.choice(earlier[-2000:])
        return original if kind == "repeat" else _changed(original)
    if kind == "broken":
        return Sent(b"v0", chance.choice(BROKEN), _headers(name, chance))
    event = _good(chance)
    _bend(kind, event, chance)
    return Sent(
        str(event.get("visitor")).encode(),
        json.dumps(event).encode(),
        {} if kind == "nameless" else _headers(name, chance),
    )


def _headers(name: str, chance: random.Random) -> dict[str, str]:
    received = int(time.time() * 1000) - chance.randrange(2000)
    return {"event_id": f"id-{name}", "received_at": str(received), "user_agent": "Mozilla/5.0 (X11; Linux x86_64)"}


def _good(chance: random.Random) -> Event:
    site = f"{chance.choice('abc')}.example"
    event: Event = {
        "type": chance.choice(["pageview", "pageview", "engagement", "event"]),
        "site": site,
        "visitor": f"v{chance.randrange(50)}",
        "url": f"https://{site}/page/{chance.randrange(20)}?utm_source=news",
        "happened_at": _ago(timedelta(seconds=10 + chance.random() * 600)),
        "load_ms": chance.randrange(3000),
    }
    if event["type"] == "event":
        event |= {"name": "buy", "props": {"price": chance.randrange(100)}}
    return event


def _bend(kind: str, event: Event, chance: random.Random) -> None:
    if kind == "late":
        event["happened_at"] = _ago(DAY * 30 * chance.random())
    elif kind == "ahead":
        event["happened_at"] = _ago(-timedelta(hours=chance.randrange(1, 20)))
    elif kind == "old":
        event["happened_at"] = _ago(DAY * 500)
    elif kind == "future":
        event["happened_at"] = int((time.time() + 3 * 86400) * 1000)
    elif kind == "wrong":
        chance.choice(WRONGS)(event)


WRONGS = (
    lambda event: event.update(type="click"),
    lambda event: event.pop("type"),
    lambda event: event.pop("site"),
    lambda event: event.pop("visitor"),
    lambda event: event.pop("url"),
    lambda event: event.update(url="not an address"),
    lambda event: event.update(happened_at="yesterday"),
    lambda event: event.update(happened_at="0000-01-01T00:00:00Z"),
    lambda event: event.update(load_ms="fast"),
    lambda event: event.update(title=["a", "list"]),
    lambda event: event.update(title="long" * 5000),
)


def _changed(original: Sent) -> Sent:
    event = {**json.loads(original.value), "title": "other content under the same id"}
    return Sent(original.key, json.dumps(event).encode(), original.headers)


def _ago(span: timedelta) -> str:
    return (datetime.now(UTC) - span).isoformat(timespec="milliseconds")
