"""Who was erased for good, as far as anybody may still know: how many, when, and what went with them.

Statements in `control/erasures`, one for each source that had records of theirs. Nothing revokes them, and no rewind
goes behind them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from penstock.lake.layout import Layout
from penstock.lake.statements import Statement, Statements
from penstock.model.domain import domains

# The reason of a record that nobody can read any more.
ERASED = "erased"


@dataclass(frozen=True)
class Erasure(Statement):
    """`subjects` were erased together; of each release `facts` says how many there were, and how many of theirs."""

    verb: ClassVar[str] = ERASED

    operation: str = ""
    subjects: int = 0
    facts: Mapping[str, tuple[int, int]] = field(default_factory=dict)


ERASURES = Statements("erasures", Erasure)


def since(layout: Layout, domain: str, moment: datetime) -> list[Erasure]:
    """What was erased of a domain after a moment."""
    said = [each for source in domains()[domain].sources for each in ERASURES.stated(layout, source.name)]
    return [each for each in said if each.at > moment]
