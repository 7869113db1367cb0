"""Views: questions with a name. A view is a value; the engine makes the batch, speed and replay plans of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.model.measure import Measure
from penstock.model.source import Facts

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Tally:
    """Measures over time buckets and keys. `every` is the smallest bucket; readers roll it up."""

    name: str
    of: Facts
    by: tuple[str, ...]
    measures: Mapping[str, Measure]
    at: str = "happened_at"
    every: str = "1 minute"
    doc: str = ""


@dataclass(frozen=True)
class PerKey:
    """Rows that a pure function makes of all facts of a key within a horizon; the latest epoch of a key wins."""

    name: str
    of: Facts
    key: tuple[str, ...]
    columns: Mapping[str, str]
    rows: Callable[[list[Row]], list[Row]] = field(compare=False)
    at: str = "happened_at"
    horizon: str = "1 day"
    doc: str = ""


View = Tally | PerKey
