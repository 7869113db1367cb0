"""What somebody wants to be told of at once."""

from domains.toy.model import EVENTS

from penstock.model.rule import Rule
from penstock.model.source import Facts

LARGE = Rule("toy.large", Facts(EVENTS, "amount > 90"), shows=("who", "amount"), armed=True, doc="A large amount.")
QUIET = Rule("toy.quiet", Facts(EVENTS, "amount is null"), doc="No amount: not armed yet.")

RULES = (LARGE, QUIET)
