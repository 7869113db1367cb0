"""What a domain's page in the console shows: headline numbers, one chart, top lists, reports. A page is a value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Headline:
    """One big number. The first of `views` that has the keys that are filtered on answers it."""

    label: str
    measure: str
    views: tuple[str, ...]
    style: str = "count"  # count, percent, seconds, milliseconds, decimal
    better: str = "up"


@dataclass(frozen=True)
class TopList:
    """The largest values of a key. Several of one `group` share a panel, as tabs."""

    group: str
    label: str
    view: str
    by: str
    measure: str
    style: str = "count"
    unit: str = ""  # what heads the figures, where the measure's name would not do


@dataclass(frozen=True)
class Report:
    """An answer that takes more than one question of a view. `kind` names who makes it (penstock.serve.reports).

    `measures` are those of `view` that it is made of, in order, each with the words that people read; `by` its keys;
    `other` a second view that it needs.
    """

    name: str
    title: str
    kind: str
    view: str
    doc: str
    measures: Mapping[str, str]
    by: tuple[str, ...] = ()
    other: str = ""


@dataclass(frozen=True)
class Page:
    """`chart` is a Vega-Lite specification with the named data set `rows`: bucket, value, series (now, earlier)."""

    title: str
    scope: str
    headlines: tuple[Headline, ...]
    lists: tuple[TopList, ...]
    chart: Mapping[str, Any]
    live: str
    source: str
    first_event: Mapping[str, Any]
    reports: tuple[Report, ...] = ()

    def document(self) -> dict[str, Any]:
        return asdict(self)
