"""What people have stated of a source's records, said of a new release too: repairs, retractions and restatements."""

import time
from collections.abc import Callable, Iterable, Mapping

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import SparkSession

from penstock.engine import silver
from penstock.engine.arrived import asked
from penstock.engine.checkpoints import notes
from penstock.engine.repair import put
from penstock.engine.retraction import mark
from penstock.engine.shape import Shape
from penstock.lake.layout import Layout
from penstock.lake.publication import last_epoch, open_table
from penstock.lake.releases import Refused, kept
from penstock.lake.repairs import REPAIRS, Repair
from penstock.lake.retractions import RETRACTIONS, Retraction

# The archive is seconds behind the streams that people see when they state something, unless it stands still.
PATIENCE, LOOK_SECONDS = 120.0, 1.0
Said = Repair | Retraction


def repeated(spark: SparkSession, shape: Shape, more: Callable[[], object]) -> bool:
    """Repeats what is in force and was not repeated yet, in the order in which it was stated. True: silver changed.

    What is stated while a release is made may be about records that it does not have yet: `more` replays those first,
    or its stream would have them as if nothing had been said. That stream must not run meanwhile.
    """
    left = _unsaid(shape)
    grown = _grown(shape, left, more)
    return bool(sum(_once(spark, shape, each) for each in left)) or grown


def _unsaid(shape: Shape) -> list[Said]:
    table = DeltaTable(shape.place.table)
    return [one for one in in_force(shape.layout, shape.source.name) if last_epoch(table, _name(one)) < 0]


def in_force(layout: Layout, source: str) -> list[Said]:
    """What people have stated of a source's records, in the order in which they did."""
    said: list[Said] = [*REPAIRS.in_force(layout, source), *RETRACTIONS.in_force(layout, source)]
    return sorted(said, key=lambda one: one.at)


def _name(said: Said) -> str:
    return f"stated/{said.id}"


def _grown(shape: Shape, said: list[Said], more: Callable[[], object]) -> bool:
    """Has more replayed until silver has what statements are about. Whether it did not have that."""
    limit, times = time.monotonic() + PATIENCE, 0
    while short := _short(shape, said):
        if times and time.monotonic() > limit:
            raise Refused(
                f"{', '.join(short)} of {shape.source.name} is about records that the archive does not have yet. Start "
                "the streams or wait until they have caught up, then clear the task: the replay goes on."
            )
        time.sleep(LOOK_SECONDS if times else 0)
        more()
        times += 1
    return times > 0


def _short(shape: Shape, said: list[Said]) -> list[str]:
    """Those about records that a release has which people may see, and this one has not."""
    if not said:
        return []
    own, theirs = _ends(shape, [shape.release]), _ends(shape, kept(shape.layout, shape.source.domain))

    def beyond(part: str, end: int) -> bool:
        # A log's last offsets may be of no record, so what others have says how far there is anything.
        return own.get(part, 0) < min(end, theirs.get(part, 0))

    return [one.id for one in said if any(beyond(part, end) for part, end in one.ends.items())]


def _ends(shape: Shape, releases: Iterable[str]) -> Mapping[str, int]:
    """The offset after each partition's last record in any of these releases."""
    ends: dict[str, int] = {}
    for release in releases:
        table = open_table(shape.layout.silver(release, shape.source.name))
        last = 'select partition, max("offset") + 1 from rows group by partition'
        for part, end in asked(table, last) if table else ():
            ends[str(part)] = max(ends.get(str(part), 0), int(end))
    return ends


def _once(spark: SparkSession, shape: Shape, said: Said) -> int:
    path = shape.place.table
    rows = put(spark, shape, said) if isinstance(said, Repair) else mark(spark, path, shape.source, said)
    # Asked again after a later statement, the condition of this one might hold for other rows. Each commit says again
    # where the replay stands: hundreds without a word of it would hide that from whoever goes on (checkpoints.COMMITS).
    told = notes(DeltaTable(path))[:1]
    done = CommitProperties(
        app_transactions=[Transaction(_name(said), 0)], custom_metadata={"penstock": told[0]} if told else {}
    )
    write_deltalake(path, silver.schema(shape.source).empty_table(), mode="append", commit_properties=done)
    return rows
