"""What a domain says of its sources: which topic, which columns its facts have, why a record may be refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Field:
    """One column of a fact, with its Spark SQL type. `personal`: erasure reaches it; `subject`: it names somebody."""

    name: str
    type: str = "string"
    doc: str = ""
    personal: bool = False
    subject: bool = False


@dataclass(frozen=True)
class Source:
    """One log topic. `key` is the event's field by which the log is partitioned and kept in order."""

    name: str
    key: str
    fields: tuple[Field, ...]
    reasons: tuple[str, ...]
    doc: str = ""
    partitions: int = 4

    @cached_property
    def domain(self) -> str:
        return self.name.partition(".")[0]

    @cached_property
    def personal(self) -> bool:
        """Whether records are sealed before they are on the log, so that a subject can be erased."""
        return any(field.personal for field in self.fields)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The fields that name somebody, the key's first: a record is erased with any of them."""
        named = [field.name for field in self.fields if field.subject] or [self.key]
        return tuple(sorted(named, key=lambda name: name != self.key)) if self.personal else ()

    def ddl(self) -> str:
        """The fact's columns as a Spark schema."""
        return ", ".join(f"`{field.name}` {field.type}" for field in self.fields)


@dataclass(frozen=True)
class Facts:
    """The facts of a source for which a condition (a Spark SQL expression, also valid in DuckDB) holds."""

    source: Source
    where: str = "true"


@dataclass(frozen=True, kw_only=True)
class Enriched(Facts):
    """Facts with what another source had said of their key by the epoch in which they came.

    `said` are facts of the other source, which name the key `key`; these facts name it `on`. `columns` are what a view
    sees beside the facts' own -> what it is in the other source: of each the last value that was said, as time goes,
    and null where none was. To leave a field out does not change it. `where` is about the facts' own columns.
    """

    said: Facts
    key: str
    on: str
    columns: Mapping[str, str]

    def __post_init__(self) -> None:
        own = {field.name for field in self.source.fields}
        if both := sorted(own & set(self.columns)):
            raise ValueError(
                f"{self.source.name} has fields {', '.join(both)} of its own: give the enriched columns other names."
            )
        theirs = {field.name for field in self.said.source.fields}
        asked = {self.key, *self.columns.values()}
        if missing := sorted([*({self.on} - own), *(asked - theirs)]):
            raise ValueError(
                f"{self.source.name} is not to be enriched with {self.said.source.name}: no field "
                f"{', '.join(missing)}. "
                f"There are: {', '.join(sorted(own))}; and {', '.join(sorted(theirs))}."
            )
        if self.source.domain != self.said.source.domain:
            raise ValueError(f"{self.source.name} and {self.said.source.name} are of two domains, which are apart.")
