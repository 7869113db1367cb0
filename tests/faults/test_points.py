"""An epoch that is cut off at each of its steps, or finds the disk full there, is done again and done once.

What lies on the disk after a cut is what kill -9 leaves: the process that goes on knows nothing of the one before.
Kills of real processes are in test_kill.py; damage to checkpoints in tests/spark/test_checkpoint_damage.py.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from faults.bronze import TOPIC, as_log, bronze
from faults.points import POINTS, Act, Point, disk_full
from oracle.recompute import differences
from pyspark.sql import DataFrame, SparkSession

from penstock.engine import shape
from penstock.engine.archive import Archive
from penstock.engine.archive import bronze as columns
from penstock.engine.epoch import Epoch
from penstock.engine.shape import Shape
from penstock.engine.shapes import judged, planned
from penstock.lake.layout import Layout
from penstock.model.domain import domains, source

EVENTS = source(TOPIC)
RECORDS, EACH = 120, 40


class Cut(BaseException):
    """The end of a process, as far as the files are concerned."""


@pytest.fixture(scope="module")
def records() -> pa.Table:
    return bronze(11, RECORDS)


@pytest.fixture(scope="module")
def shaped(spark: SparkSession, records: pa.Table) -> pa.Table:
    return judged(planned(spark.createDataFrame(records), EVENTS, {}), EVENTS)


def end_of_the_process() -> None:
    raise Cut


def run(job: Shape, rows: DataFrame, number: int) -> None:
    """One epoch, with what it leaves behind; raises where a stream would fail, then or at the next epoch."""
    job.epoch(job.plan(rows), Epoch("query", number, EACH))
    job.behind.settle()


def shape_epochs(spark: SparkSession, lake: Path, shaped: pa.Table, point: Point, act: Act) -> Shape:
    """Three epochs; the second is cut off, and done again by a process that has only the files."""
    for number in range(3):
        rows = spark.createDataFrame(shaped.slice(number * EACH, EACH))
        for armed in (True, False) if number == 1 else (False,):
            job = Shape(EVENTS, Layout(str(lake)), "r1")
            job.prepare()
            if not armed:
                run(job, rows, number)
                continue
            with pytest.MonkeyPatch.context() as cut, pytest.raises((Cut, OSError)):
                point.arm(act, cut.setattr)
                run(job, rows, number)
    return job


def speed(lake: Path) -> dict[str, list[Any]]:
    """How many facts of each epoch each view has."""
    found = {}
    for view in domains()["web"].views:
        path = Layout(str(lake)).speed("r1", view.name)
        if Path(path).exists():
            rows = DeltaTable(path).to_pyarrow_table().group_by("epoch").aggregate([("facts", "sum")])
            found[view.name] = sorted(zip(*rows.to_pydict().values(), strict=True))
    return found


@pytest.fixture(scope="module")
def uncut(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, shaped: pa.Table) -> dict[str, list[Any]]:
    """The speed tables of a life without accidents."""
    lake = tmp_path_factory.mktemp("uncut")
    with pytest.MonkeyPatch.context() as patch:
        only_the_engine(patch)
        for number in range(3):
            job = Shape(EVENTS, Layout(str(lake)), "r1")
            job.prepare()
            run(job, spark.createDataFrame(shaped.slice(number * EACH, EACH)), number)
    return speed(lake)


def only_the_engine(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shape, "planned", lambda shaped, *_: shaped)


@pytest.mark.parametrize(
    ("name", "act"),
    [*((name, end_of_the_process) for name in POINTS), *((name, disk_full) for name in POINTS if "half" in name)],
)
def test_an_epoch_that_is_cut_off_is_done_once(
    name: str,
    act: Act,
    spark: SparkSession,
    tmp_path: Path,
    records: pa.Table,
    shaped: pa.Table,
    uncut: dict[str, list[Any]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        only_the_engine(patch)
        job = shape_epochs(spark, tmp_path, shaped, POINTS[name], act)
    missing, extra = differences(as_log(records), DeltaTable(job.place.table).to_pyarrow_table())
    assert (missing, extra) == ([], [])
    assert speed(tmp_path) == uncut


@pytest.mark.parametrize("name", [name for name in POINTS if name.endswith("1")])
def test_an_archive_that_is_cut_off_has_each_record_once(
    name: str, spark: SparkSession, tmp_path: Path, records: pa.Table
) -> None:
    batch = columns(spark.createDataFrame(records))
    job = Archive(EVENTS, Layout(str(tmp_path)))
    job.prepare()
    with pytest.MonkeyPatch.context() as cut, pytest.raises(Cut):
        POINTS[name].arm(end_of_the_process, cut.setattr)
        job.epoch(batch, Epoch("query", 0, RECORDS))
    again = Archive(EVENTS, Layout(str(tmp_path)))
    again.prepare()
    again.epoch(batch, Epoch("query", 0, RECORDS))
    rows = DeltaTable(again.place.table).to_pyarrow_table().sort_by("offset")
    assert rows["value"].to_pylist() == records["value"].to_pylist()
