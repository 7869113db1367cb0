"""Page views of few users, whose profiles change in any order: before, between and long after what they change."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
VIEW, USERS, EVENTS = "web.views_by_profile", "web.users", "web.events"
HOURS = 72


@dataclass(frozen=True)
class Told:
    """One epoch of one source."""

    source: str
    events: list[dict[str, Any]]


def epochs(seed: int, number: int) -> Iterator[Told]:
    """Of both sources in any order. Moments have nothing to do with when they are told."""
    chance = Random(seed)  # noqa: S311
    for _ in range(number):
        kind = chance.choice((USERS, EVENTS, EVENTS))
        yield Told(kind, [_event(kind, chance) for _ in range(chance.randrange(1, 9))])


def _event(kind: str, chance: Random) -> dict[str, Any]:
    # Whole minutes, so that two changes of one user come at one moment now and then.
    at = MIDNIGHT + timedelta(minutes=chance.randrange(HOURS * 60) // 60 * 60)
    user = chance.choice(["u1", "u2", "u3", None])
    if kind == USERS:
        own = {"region": chance.choice(["north", "south", None]), "plan": chance.choice(["free", "paid", None])}
        return {"user": user or "u4", "happened_at": at.isoformat(), **own}
    page = {"type": "pageview", "site": chance.choice(["a.example", "b.example"]), "visitor": f"v{user}"}
    return {**page, "user": user, "url": f"https://a.example/{user}", "happened_at": at.isoformat()}
