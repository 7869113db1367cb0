"""The toy domain's questions."""

from datetime import timedelta

from domains.toy.model import EVENTS

from penstock.model.measures import (
    count,
    distinct,
    exact_distinct,
    first,
    histogram,
    last,
    maximum,
    mean,
    members,
    minimum,
    quantile,
    ratio,
    theta,
    top,
    total,
)
from penstock.model.source import Facts
from penstock.model.view import Latest, PerKey, Row, Sessions, Tally, View

ALL = Facts(EVENTS)
EVENTS_BY_WHAT = Tally(
    "toy.events_by_what",
    of=ALL,
    by=("what",),
    measures={
        "events": count(),
        "large": count("amount > 50"),
        "large_share": ratio("large", "events"),
        "amount": total("amount"),
        "amount_mean": mean("amount"),
        "least": minimum("amount"),
        "most": maximum("amount"),
        "who": distinct("who"),
        "amount_p95": quantile("amount", 0.95),
    },
    doc="What was done, and how much.",
)
KITCHEN_SINK = Tally(
    "toy.everything",
    of=Facts(EVENTS, "what <> 'noise'"),
    by=(),
    measures={
        "first_who": first("who"),
        "last_who": last("who"),
        "who_exactly": exact_distinct("who"),
        "who_seen": theta("who"),
        "who_large": theta("who", "amount > 50"),
        "who_small": members("who_seen and not who_large"),
        "top_who": top("who", 3),
        "amounts": histogram("amount", [10, 50, 90]),
    },
    every="1 hour",
    doc="Every other measure.",
)
SESSIONS = Sessions(
    "toy.sessions",
    of=ALL,
    key=("who",),
    measures={"events": count(), "amount": total("amount"), "entry": first("what"), "exit": last("what")},
    doc="What somebody did without 30 minutes of silence.",
)
VISITS = Tally(
    "toy.visits",
    of=SESSIONS,
    by=("entry",),
    measures={
        "visits": count(),
        "bounces": count("events = 1"),
        "bounce_rate": ratio("bounces", "visits"),
        "duration": mean("seconds"),
    },
    at="started",
    doc="Sessions by what they began with.",
)
NOW = Latest("toy.now", of=ALL, key=("who",), columns=("what", "amount"), doc="What everybody did last.")


def looked_then_bought(facts: list[Row]) -> list[Row]:
    """A buy within five minutes of a look without a leave between them, and how long it took."""
    found: list[Row] = []
    looked = None
    for fact in facts:
        if fact["what"] == "look":
            looked = fact["happened_at"]
        elif fact["what"] == "leave":
            looked = None
        elif fact["what"] == "buy" and looked and fact["happened_at"] - looked <= timedelta(minutes=5):
            found.append({"happened_at": fact["happened_at"], "seconds": (fact["happened_at"] - looked).seconds})
            looked = None
    return found


IMPULSES = PerKey(
    "toy.impulses",
    of=ALL,
    key=("who",),
    columns={"happened_at": "timestamp", "seconds": "bigint"},
    rows=looked_then_bought,
    doc="Who bought within five minutes of looking, and did not leave between.",
)

VIEWS: tuple[View, ...] = (EVENTS_BY_WHAT, KITCHEN_SINK, SESSIONS, VISITS, NOW, IMPULSES)
