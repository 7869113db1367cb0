"""Write, audit, publish: a candidate where no reader looks, a gate, and one commit that carries the cut."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any, Protocol

from delta import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from penstock.lake.layout import Layout
from penstock.lake.publication import Publication

PARTITIONS = ("day", "width")


class Verdict(Protocol):
    """What a gate answers; penstock.engine.gate.GateResult is one."""

    @property
    def passed(self) -> bool: ...

    @property
    def reason(self) -> str: ...


Gate = Callable[[DataFrame, str], Verdict]


class Refused(RuntimeError):
    """The gate did not pass: readers still see the last good numbers."""


def audited(
    spark: SparkSession, layout: Layout, release: str, name: str, rows: DataFrame, gate: Gate
) -> dict[str, Any]:
    """Writes the candidate and has the gate look at it. What the gate said, or Refused."""
    # Spark's old form of timestamps has nanoseconds and no zone; readers of Parquet then guess.
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    path = layout.candidate(release, name)
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy(*PARTITIONS).save(path)
    verdict = gate(spark.read.format("delta").load(path), name)
    if not verdict.passed:
        raise Refused(
            f"the gate refused {name}: {verdict.reason}. Readers keep the last good numbers; the candidate is at "
            f"{path}. Look at it, mend the cause, and build again."
        )
    return _said(verdict)


def published(
    spark: SparkSession, layout: Layout, release: str, name: str, days: Sequence[date] | None, said: Publication
) -> None:
    """One atomic commit: exactly these days of gold become the candidate's. No days: all of them."""
    candidate = spark.read.format("delta").load(layout.candidate(release, name))
    writer = candidate.write.format("delta").mode("overwrite").partitionBy(*PARTITIONS)
    writer = writer.option("userMetadata", said.to_metadata())
    gold = layout.gold(release, name)
    if days is not None and DeltaTable.isDeltaTable(spark, gold):
        listed = ", ".join(f"DATE'{day}'" for day in days)
        writer = writer.option("replaceWhere", f"day IN ({listed})")
    else:
        writer = writer.option("overwriteSchema", "true")
    writer.save(gold)


def _said(verdict: Verdict) -> dict[str, Any]:
    results = getattr(verdict, "results", ())
    told = [asdict(one) if is_dataclass(one) and not isinstance(one, type) else str(one) for one in results]
    return {"passed": verdict.passed, "reason": verdict.reason, "results": told}
