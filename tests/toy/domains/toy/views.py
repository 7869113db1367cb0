"""The toy domain's one question."""

from domains.toy.model import EVENTS

from penstock.model.measures import count, total
from penstock.model.source import Facts
from penstock.model.view import Tally, View

AMOUNTS = Tally(
    "toy.amounts",
    of=Facts(EVENTS),
    by=("what",),
    measures={"events": count(), "amount": total("amount")},
    doc="How often each thing was done, and how much of it.",
)

VIEWS: tuple[View, ...] = (AMOUNTS,)
