"""What people have stated of a source's records, said of a new release too: repairs, retractions and restatements."""

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import SparkSession

from penstock.engine import silver
from penstock.engine.repair import put
from penstock.engine.retraction import mark
from penstock.engine.shape import Shape
from penstock.lake.publication import last_epoch
from penstock.lake.repairs import REPAIRS, Repair
from penstock.lake.retractions import RETRACTIONS, Retraction


def repeated(spark: SparkSession, shape: Shape) -> int:
    """What is in force and was not repeated yet, in the order in which it was stated. Returns how many rows changed."""
    of = shape.layout, shape.source.name
    said: list[Repair | Retraction] = [*REPAIRS.in_force(*of), *RETRACTIONS.in_force(*of)]
    return sum(_once(spark, shape, each) for each in sorted(said, key=lambda one: one.at))


def _once(spark: SparkSession, shape: Shape, said: Repair | Retraction) -> int:
    path, name = shape.place.table, f"stated/{said.id}"
    if last_epoch(DeltaTable(path), name) >= 0:
        return 0
    rows = put(spark, shape, said) if isinstance(said, Repair) else mark(spark, path, shape.source, said)
    # Asked again after a later statement, the condition of this one might hold for other rows.
    done = CommitProperties(app_transactions=[Transaction(name, 0)])
    write_deltalake(path, silver.schema(shape.source).empty_table(), mode="append", commit_properties=done)
    return rows
