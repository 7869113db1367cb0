"""Visits to a believable site, from a seed: the same seed and start give the same events, in order of sending."""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any

from domains.web import site

Event = dict[str, Any]

# Events of a mean visit, measured over 20,000 visits of seed 1: rates are asked for in events.
EVENTS_A_VISIT = 5.14
PEOPLE = 40_000
RETURNING = 0.35
BOTS, OFFLINE, SKEWED, SIGNED_IN, TRIED = 0.06, 0.01, 0.03, 0.12, 0.5


@dataclass(order=True)
class Sent:
    """An event and when it is sent, which for a phone without a network is hours after it happened."""

    at: datetime
    order: int
    source: str = field(compare=False)
    event: Event = field(compare=False)


def rhythm(at: datetime) -> float:
    """How busy the site is, around 1: evenings more than nights, weekends more than Mondays (it lends boats)."""
    hour = at.hour + at.minute / 60
    daily = 1 + 0.75 * math.sin((hour - 10.5) / 24 * 2 * math.pi) + 0.15 * math.sin((hour - 7) / 12 * 2 * math.pi)
    return max(0.12, daily) * (0.9, 0.88, 0.92, 0.97, 1.08, 1.2, 1.15)[at.weekday()]


def events(seed: int, start: datetime, rate: float, launch: datetime | None = None) -> Iterator[Sent]:
    """Events for ever from `start` on, about `rate` a second; on the launch day three times as many."""
    chance, order, waiting = Random(seed), count(), list[Sent]()  # noqa: S311
    at, a_second = start, rate / EVENTS_A_VISIT
    while True:
        busy = rhythm(at) * (3 if launch and launch.date() == at.date() else 1)
        at += timedelta(seconds=chance.expovariate(a_second * busy))
        while waiting and waiting[0].at <= at:
            yield heapq.heappop(waiting)
        for sent in visit(chance, at, launch is not None and launch.date() == at.date()):
            heapq.heappush(waiting, Sent(sent[0], next(order), sent[1], sent[2]))


def visit(chance: Random, at: datetime, launched: bool) -> Iterator[tuple[datetime, str, Event]]:
    """One visit: pages in a row, how long each was read, what was done, and now and then who it was."""
    number = int(PEOPLE * chance.random() ** 2) if chance.random() < RETURNING else chance.randrange(10**9)
    person = Person.known(number)
    bot = chance.random() < BOTS
    delay = timedelta(hours=chance.uniform(1, 30)) if chance.random() < OFFLINE else timedelta()
    skew = timedelta(minutes=chance.uniform(-20, 10)) if chance.random() < SKEWED else timedelta()
    base = _base(chance, person, bot)
    referrer, query = site.LAUNCH if launched and chance.random() < 0.6 else _way_in(chance)
    if person.user and not bot:
        yield from _who(at + delay, person, chance)
    for step in range(1 if bot else _pages(chance)):
        page, title = _page(chance)
        address = f"https://{base['site']}{page}" + (f"?{query}" if query and step == 0 else "")
        seen = base | {"url": address, "title": title}
        seconds = chance.lognormvariate(3.3, 0.9)
        load = int(chance.lognormvariate(6.4, 0.5))
        yield at + delay, "web.events", seen | {
            "type": "pageview", "referrer": referrer, "load_ms": load, "happened_at": _text(at + skew)
        }  # fmt: skip
        at += timedelta(seconds=seconds)
        if bot:
            return
        yield at + delay, "web.events", seen | {
            "type": "engagement", "engaged_ms": int(seconds * 800), "scroll_pct": chance.randint(10, 100),
            "happened_at": _text(at + skew),
        }  # fmt: skip
        name, likely = site.GOALS.get(page, ("", 0.0))
        if chance.random() < likely * (1.2 if base.get("variant") == "b" else 1):
            done = {"type": "event", "name": name, "props": {"boat": chance.choice(("dinghy", "sloop", "catamaran"))}}
            yield at + delay, "web.events", seen | done | {"happened_at": _text(at + skew)}
        referrer = address
        at += timedelta(seconds=chance.uniform(1, 8))


@dataclass(frozen=True)
class Person:
    """What stays the same about a visitor, made of their number alone, so that they return as themselves."""

    visitor: str
    user: str | None
    place: tuple[str, str, int, str]
    device: tuple[str, str, int]
    variant: str | None

    @classmethod
    def known(cls, number: int) -> "Person":
        chance = Random(number)  # noqa: S311
        return cls(
            visitor=f"v{number:x}",
            user=f"u{number % 5000}" if chance.random() < SIGNED_IN else None,
            place=chance.choices(site.PLACES, [place[2] for place in site.PLACES])[0],
            device=chance.choices(site.DEVICES, [device[2] for device in site.DEVICES])[0],
            variant=chance.choice("ab") if chance.random() < TRIED else None,
        )


def _base(chance: Random, person: Person, bot: bool) -> Event:
    zone, language, _, region = person.place
    agent, screen, _ = person.device
    known = {
        "site": chance.choices(list(site.SITES), list(site.SITES.values()))[0],
        "visitor": person.visitor,
        "user": person.user,
        "language": language,
        "timezone": zone,
        "region": region,
        "screen": screen,
        "user_agent": chance.choice(site.BOTS) if bot else agent,
        "experiment": "book-button" if person.variant else None,
        "variant": person.variant,
    }
    return {name: value for name, value in known.items() if value is not None}


def _who(at: datetime, person: Person, chance: Random) -> Iterator[tuple[datetime, str, Event]]:
    """A user says who they are; now and then they change their profile."""
    yield at, "web.identities", {"a": person.visitor, "b": person.user, "happened_at": _text(at)}
    if chance.random() < 0.2:
        profile = {"region": person.place[3], "plan": chance.choice(site.PLANS)}
        yield at, "web.users", {"user": person.user, "happened_at": _text(at), **profile}


def _pages(chance: Random) -> int:
    """42 of 100 leave after one page; the others see about three more."""
    return 1 if chance.random() < 0.42 else 2 + min(12, int(chance.expovariate(0.45)))


def _page(chance: Random) -> tuple[str, str]:
    return chance.choices(site.PAGES, [1 / rank for rank in range(1, len(site.PAGES) + 1)])[0]


def _way_in(chance: Random) -> tuple[str | None, str]:
    referrer, query, _ = chance.choices(site.WAYS_IN, [way[2] for way in site.WAYS_IN])[0]
    return referrer, query


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
