"""Which records name certain subjects: their headers say it, in bronze and, where the archive is behind, in the log."""

from collections.abc import Collection, Iterator

import duckdb
import pyarrow as pa
from confluent_kafka import Consumer, TopicPartition

from penstock.engine.arrived import asked
from penstock.engine.pinning import releases
from penstock.keys.sealing import tokens_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.model.domain import domains
from penstock.model.record import SUBJECTS
from penstock.model.source import Source
from penstock.settings import Settings

POSITIONS = pa.schema({"partition": pa.int32(), "offset": pa.int64()})
NAMING = """
select partition, "offset" from (
    select partition, "offset", hex(list_filter(headers, lambda one: one.key = '{header}')[1].value) as named
    from bronze
) where {any}
"""
NAMED = "substr(named, {start}, 32) in (select token from tokens)"
ENDS = 'select partition, max("offset") + 1 from rows group by partition'
# How long the log may take for the next record.
PATIENCE = 30.0


class CannotErase(RuntimeError):
    """It cannot be done now; the message says what stands in the way."""


def naming(settings: Settings, source: Source, tokens: Collection[bytes]) -> pa.Table:
    """The positions of all records that name any of these subjects, as far as any silver has come."""
    layout = Layout(settings.lake)
    late = _late(layout, source)
    found = [*_archived(layout, source, tokens), *(_logged(settings.kafka, source, late, tokens) if late else ())]
    return pa.Table.from_pylist([{"partition": part, "offset": offset} for part, offset in found], POSITIONS)


def _archived(layout: Layout, source: Source, tokens: Collection[bytes]) -> list[tuple[int, int]]:
    bronze = open_table(layout.bronze(source.name))
    if bronze is None:
        return []
    places = [NAMED.format(start=1 + 32 * place) for place in range(len(source.subjects))]
    with duckdb.connect() as memory:
        memory.register("bronze", bronze.to_pyarrow_dataset())
        memory.register("tokens", pa.table({"token": [token.hex().upper() for token in tokens]}))
        return memory.sql(NAMING.format(header=SUBJECTS, any=" or ".join(places))).fetchall()


def _late(layout: Layout, source: Source) -> dict[int, tuple[int, int]]:
    """By partition, the offsets that some silver has and bronze has not: a driver that ends leaves a few."""
    archived = _ends(layout.bronze(source.name))
    shaped: dict[int, int] = {}
    for release in releases(layout, domains()[source.domain]):
        for part, end in _ends(layout.silver(release, source.name)).items():
            shaped[part] = max(end, shaped.get(part, 0))
    return {part: (archived.get(part, 0), end) for part, end in shaped.items() if end > archived.get(part, 0)}


def _ends(path: str) -> dict[int, int]:
    table = open_table(path)
    return dict(asked(table, ENDS)) if table else {}


def _logged(
    kafka: str, source: Source, late: dict[int, tuple[int, int]], tokens: Collection[bytes]
) -> Iterator[tuple[int, int]]:
    settings = {"bootstrap.servers": kafka, "group.id": "penstock.naming", "enable.auto.commit": False, "log_level": 0}
    reader = Consumer({**settings, "auto.offset.reset": "error"})
    left, wanted = {part: end for part, (_, end) in late.items()}, set(tokens)
    try:
        reader.assign([TopicPartition(source.name, part, first) for part, (first, _) in late.items()])
        while left:
            message = reader.poll(PATIENCE)
            error = message.error() if message else None
            if message is None or error is not None:
                why = error.str() if error else "it does not answer"
                raise CannotErase(f"bronze lacks records of {source.name} that silver has, and the log: {why}")
            part, offset = message.partition() or 0, message.offset() or 0
            said = dict(message.headers() or ()).get(SUBJECTS)
            if isinstance(said, bytes) and wanted & set(tokens_of(said)):
                yield part, offset
            if offset + 1 >= left.get(part, 0):
                left.pop(part, None)
    finally:
        reader.close()
