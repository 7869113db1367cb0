"""Write, audit, publish: a candidate where no reader looks, a gate, and one commit that carries the cut."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any, Protocol

from delta import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

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
    spark: SparkSession,
    layout: Layout,
    release: str,
    name: str,
    rows: DataFrame,
    days: Sequence[date] | None,
    gate: Gate,
) -> dict[str, Any]:
    """Writes the candidate and has the gate look at it. What the gate said, or Refused."""
    # Spark's old form of timestamps has nanoseconds and no zone; readers of Parquet then guess.
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    path = layout.candidate(release, name)
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy(*PARTITIONS).save(path)
    candidate = spark.read.format("delta").load(path)
    # A gate refuses to judge nothing. But days that had no rows and have none now take nothing from any reader.
    if candidate.isEmpty() and not _has_rows(spark, layout.gold(release, name), days):
        return {"passed": True, "reason": "no rows, and none are replaced", "results": []}
    verdict = gate(candidate, name)
    if not verdict.passed:
        raise Refused(
            f"the gate refused {name}: {verdict.reason}. Readers keep the last good numbers; the candidate is at "
            f"{path}. Look at it, mend the cause, and build again."
        )
    return _said(verdict)


def _has_rows(spark: SparkSession, gold: str, days: Sequence[date] | None) -> bool:
    if not DeltaTable.isDeltaTable(spark, gold):
        return False
    rows = spark.read.format("delta").load(gold)
    return not (rows if days is None else rows.where(F.col("day").isin(list(days)))).isEmpty()


def published(
    spark: SparkSession, layout: Layout, release: str, name: str, days: Sequence[date] | None, said: Publication
) -> None:
    """One atomic commit: exactly these days of gold become the candidate's. No days: all of them."""
    candidate = spark.read.format("delta").load(layout.candidate(release, name))
    writer = candidate.write.format("delta").mode("overwrite").partitionBy(*PARTITIONS)
    writer = writer.option("userMetadata", said.to_metadata())
    gold = layout.gold(release, name)
    if days is not None and DeltaTable.isDeltaTable(spark, gold):
        # No day at all (only bots came, say): Delta leaves an empty commit out, and the next build looks again.
        listed = " OR ".join(f"day = DATE'{day}'" for day in days)
        writer = writer.option("replaceWhere", listed or "false")
    else:
        writer = writer.option("overwriteSchema", "true")
    writer.save(gold)


def _said(verdict: Verdict) -> dict[str, Any]:
    results = getattr(verdict, "results", ())
    told = [asdict(one) if is_dataclass(one) and not isinstance(one, type) else str(one) for one in results]
    return {"passed": verdict.passed, "reason": verdict.reason, "results": told}
