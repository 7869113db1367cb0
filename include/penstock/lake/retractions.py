"""What was retracted and what was taken back of it: statements in `control/retractions`.

A statement holds for records up to the offsets at which it was made; what comes later is not judged by it.
"""

from dataclasses import dataclass
from typing import ClassVar

from penstock.lake.statements import Statement, Statements

REASON = "retracted"


@dataclass(frozen=True)
class Retraction(Statement):
    """`where` is a condition on facts, from `first` up to but not including `last` (happened_at; empty: open).

    One that revokes another does so whole, or where its condition holds.
    """

    verb: ClassVar[str] = REASON

    where: str
    first: str = ""
    last: str = ""


RETRACTIONS = Statements("retractions", Retraction)
