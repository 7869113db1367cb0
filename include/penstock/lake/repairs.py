"""Repairs of rejected records, named and revocable: statements in `control/repairs`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.lake.statements import Statement, Statements


@dataclass(frozen=True)
class Repair(Statement):
    """What is done to the JSON of records that were rejected for a reason: fields renamed, cast, given a default."""

    verb: ClassVar[str] = "repaired"

    reason: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    cast: Mapping[str, str] = field(default_factory=dict)
    default: Mapping[str, Any] = field(default_factory=dict)


REPAIRS = Statements("repairs", Repair)
