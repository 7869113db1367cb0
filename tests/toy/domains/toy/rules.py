"""What somebody wants to be told of at once."""

from domains.toy.model import EVENTS
from domains.toy.views import EVENTS_BY_WHAT

from penstock.model.rule import Rule, Threshold
from penstock.model.source import Facts

LARGE = Rule("toy.large", Facts(EVENTS, "amount > 90"), shows=("who", "amount"), armed=True, doc="A large amount.")
QUIET = Rule("toy.quiet", Facts(EVENTS, "amount is null"), doc="No amount: not armed yet.")

BUSY = Threshold(
    "toy.busy",
    EVENTS_BY_WHAT,
    every="5 minutes",
    by=("what",),
    where="events > 3",
    shows=("what", "events", "who"),
    armed=True,
    doc="The same was done more than three times in five minutes.",
)

RULES = (LARGE, QUIET, BUSY)
