"""A measure: how a number is made of facts (partial), joined (merge, fold) and shown.

Two engines work on one definition. Spark makes partials of facts and merges them; the reader (DuckDB with
DataSketches functions, no JVM) folds partials and shows the number. In every template `{at}` is the view's
time column and `{suffix}` the stored column of the part with that suffix; a part without one is `{it}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Part:
    """One stored column of a partial."""

    suffix: str
    partial: str  # Spark, over facts
    merge: str  # Spark, over partials
    fold: str = ""  # DuckDB, over partials; empty: the same words as `merge`
    local: str = ""  # DuckDB, over facts; empty: the same words as `partial`
    each: str = ""  # DuckDB, over one fact: what `local` calls {each}, which is made once for all who ask it

    def column(self, measure: str) -> str:
        return f"{measure}__{self.suffix}" if self.suffix else measure


@dataclass(frozen=True)
class Measure:
    """A value that a view holds by name. `show` is DuckDB, over merged parts; `needs` are measures it is made of."""

    kind: str
    parts: tuple[Part, ...]
    show: str
    doc: str = ""
    needs: tuple[str, ...] = ()

    def columns(self, name: str) -> tuple[str, ...]:
        return tuple(part.column(name) for part in self.parts)

    def partials(self, name: str, at: str) -> dict[str, str]:
        """Stored column -> Spark aggregate over facts."""
        return {part.column(name): part.partial.replace("{at}", at) for part in self.parts}

    def locals(self, name: str, at: str, made: Mapping[str, str] = NOTHING) -> dict[str, str]:
        """Stored column -> DuckDB aggregate over facts. `made`: the columns that have what is asked of each fact."""
        told = {part.column(name): (part.local or part.partial).replace("{at}", at) for part in self.parts}
        asked = {part.column(name): made.get(part.each, part.each) for part in self.parts}
        return {column: sql.replace("{each}", asked[column]) for column, sql in told.items()}

    def merges(self, name: str) -> dict[str, str]:
        """Stored column -> Spark aggregate over partials."""
        return {part.column(name): part.merge.replace("{it}", part.column(name)) for part in self.parts}

    def folds(self, name: str) -> dict[str, str]:
        """Stored column -> DuckDB aggregate over partials."""
        return {part.column(name): (part.fold or part.merge).replace("{it}", part.column(name)) for part in self.parts}

    def shown(self, name: str) -> str:
        """The number itself, of merged parts."""
        text = self.show
        for part in self.parts:
            text = text.replace("{" + (part.suffix or "it") + "}", part.column(name))
        return text
