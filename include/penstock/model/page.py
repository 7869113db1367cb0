"""What a domain's page in the console shows: headline numbers, one chart, top lists. A page is a value."""

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

    def document(self) -> dict[str, Any]:
        return asdict(self)
