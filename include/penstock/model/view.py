"""Views: questions with a name. A view is a value; the engine makes the batch, speed and replay plans of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.model.bucket import Bucket
from penstock.model.measure import Measure
from penstock.model.source import Enriched, Facts, Source

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Sessions:
    """The facts of a key with no silence longer than `gap` between them: started, ended, seconds, and measures.

    A tally may be made `of` sessions: its expressions then see the session's columns, and `at` is "started".
    """

    name: str
    of: Facts
    key: tuple[str, ...]
    measures: Mapping[str, Measure]
    at: str = "happened_at"
    gap: str = "30 minutes"
    doc: str = ""

    def __post_init__(self) -> None:
        _refuse_enriched(self.name, self.of)


@dataclass(frozen=True)
class Tally:
    """Measures over time buckets and keys. `every` is the smallest bucket; readers roll it up."""

    name: str
    of: Facts | Sessions
    by: tuple[str, ...]
    measures: Mapping[str, Measure]
    at: str = "happened_at"
    every: str = "1 minute"
    doc: str = ""

    def __post_init__(self) -> None:
        if not Bucket.of(self.every).divides(Bucket.of("1 day")):
            raise ValueError(
                f"{self.name}: no day is made of whole buckets of {self.every}, and gold is kept by the day. "
                "Say one that divides a day, such as '1 day'; readers roll it up to weeks, months and years."
            )


@dataclass(frozen=True)
class Latest:
    """The current row of each key: the columns of its latest fact (change data capture)."""

    name: str
    of: Facts
    key: tuple[str, ...]
    columns: tuple[str, ...]
    at: str = "happened_at"
    doc: str = ""

    def __post_init__(self) -> None:
        _refuse_enriched(self.name, self.of)


@dataclass(frozen=True)
class PerKey:
    """Rows that a pure function makes of a key's facts, day by day.

    For each UTC day the function sees the key's facts, in order of time, from `horizon` days before that day to
    its end, and the rows whose `at` lies in the day are kept. The latest epoch of a key and day wins.
    """

    name: str
    of: Facts
    key: tuple[str, ...]
    columns: Mapping[str, str]
    rows: Callable[[list[Row]], list[Row]] = field(compare=False)
    at: str = "happened_at"
    horizon: int = 1
    doc: str = ""

    def __post_init__(self) -> None:
        _refuse_enriched(self.name, self.of)


View = Tally | Sessions | Latest | PerKey


def source_of(view: View) -> Source:
    """The source whose facts a view is made of, directly or by way of sessions."""
    return view.of.of.source if isinstance(view.of, Sessions) else view.of.source


def keys(view: View) -> tuple[str, ...]:
    """The columns that a view is asked by."""
    return view.by if isinstance(view, Tally) else view.key


def enrichment(view: View) -> Enriched | None:
    """What the facts that a view is made of are enriched with, if they are."""
    return view.of if isinstance(view.of, Enriched) else None


def _refuse_enriched(name: str, of: Facts) -> None:
    if isinstance(of, Enriched):
        raise ValueError(f"{name}: enriched facts are counted by tallies. Make it a tally, or of plain facts.")
