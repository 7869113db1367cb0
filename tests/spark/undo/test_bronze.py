"""Bronze that lost files is filled again from the log; what the log no longer has is named by its offsets."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from serving import forget
from tending import Tended, rows
from toy_lake import Passed

from penstock.engine.archive import Archive
from penstock.engine.damage import damages
from penstock.engine.mending import Lost, rebuild
from penstock.engine.stream import Job
from penstock.lake.layout import Layout
from penstock.model.domain import Domain
from penstock.settings import Settings

TABLE = "bronze/toy.events"


def records(path: str) -> pa.Table:
    """All of bronze, but which epoch brought it."""
    return DeltaTable(path).to_pyarrow_table().drop_columns("epoch").sort_by("offset")


def file_of(path: str, offset: int) -> Path:
    files = [Path(uri.removeprefix("file://")) for uri in DeltaTable(path).file_uris()]
    return next(file for file in files if offset in pq.ParquetFile(file).read(["offset"])["offset"].to_pylist())


def test_files_that_are_gone_or_broken_come_again_from_the_log(
    settings: Settings, toy: Domain, log: str, send: Callable[..., None], spark: SparkSession
) -> None:
    own, layout = replace(settings, kafka=log), Layout(settings.lake)
    jobs: list[Job] = [Archive(toy.sources[0], layout)]
    bronze = jobs[0].place.table

    def again(operation: str) -> str:
        return rebuild(spark, own, TABLE, operation, lambda source: {}, lambda release: lambda *_: Passed())

    def sent(*numbers: int) -> None:
        for number in numbers:
            send(f"e{number}", f'{{"who": "ann", "amount": {number}}}')
            rows(bronze, number + 1)

    with Tended(spark, own, jobs):
        sent(0, 1, 2, 3)
    whole = records(bronze)
    file_of(bronze, 1).unlink()
    file_of(bronze, 2).write_bytes(b"no parquet")
    assert {each.table for each in damages(layout, log, deep=True)} == {TABLE}
    assert "2 records archived again" in again("rebuild/1")
    assert records(bronze).equals(whole)
    assert list(damages(layout, log, deep=True)) == []
    assert "0 records archived again" in again("rebuild/2")

    with Tended(spark, own, jobs):
        sent(4)
    whole = records(bronze)
    file_of(bronze, 1).unlink()
    forget(log, "toy.events", before=2)
    with pytest.raises(Lost, match=r"^1 records of toy.events were archived again.* offsets 1 to 1 \(1 records\)"):
        again("rebuild/3")
    assert records(bronze).equals(pa.concat_tables([whole.slice(0, 1), whole.slice(2)]))
