"""Rules: standing questions about single facts. What matches is an alert, in the table and the topic of alerts."""

from dataclasses import dataclass

from penstock.model.source import Facts


@dataclass(frozen=True)
class Rule:
    """Facts that somebody wants to be told of; `of.where` is the condition. `shows`: the columns that an alert carries.

    A rule that is not armed can be tried over history (`penstock rules try`) and tells nobody. Whoever changes what a
    rule asks raises its version: alerts are of a rule, a version and a fact, and each is told once.
    """

    name: str
    of: Facts
    shows: tuple[str, ...] = ()
    version: int = 1
    armed: bool = False
    doc: str = ""
