"""What a domain says of its sources: which topic, which columns its facts have, why a record may be refused."""

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

    @property
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
