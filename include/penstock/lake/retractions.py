"""What was retracted or restated, and what was taken back of it: statements in `control/retractions`, in one order.

A statement holds for records up to the offsets at which it was made; what comes later is not judged by it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

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


@dataclass(frozen=True)
class Restatement(Retraction):
    """Of these facts, `field` is what the expression `value` says; empty where it revokes another one."""

    verb: ClassVar[str] = "restated"

    field: str = ""
    value: str = ""


def _read(**document: Any) -> Retraction:
    return (Restatement if "field" in document else Retraction)(**document)


# In one table: a condition may be about what another statement has restated, so their order counts.
RETRACTIONS: Statements[Retraction] = Statements("retractions", _read)
