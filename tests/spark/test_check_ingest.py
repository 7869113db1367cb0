"""The hour's look at bronze and silver: records have a place of their own, and come with their envelope."""

import json
import runpy
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from toy_lake import MIDNIGHT, ToyLake, fact

from penstock.engine.archive import BRONZE
from penstock.engine.lineage import Touched
from penstock.engine.suites import ENOUGH_RECORDS
from penstock.lake.gates import Checked, checks
from penstock.lake.names import bronze_of

JOB = Path(__file__).parents[2] / "spark_jobs" / "check_ingest.py"
SOURCE = "toy.events"
LATER = timedelta(hours=1)


def archived(lake: ToyLake, changes: Mapping[int, Mapping[str, Any]], count: int = 2) -> None:
    """Records of the first hour in bronze, some of them changed."""
    envelope = [{"key": "event_id", "value": b"e"}, {"key": "content_type", "value": b"application/json"}]
    good = {"key": b"k", "value": b"{}", "headers": envelope, "partition": 0, "timestamp": MIDNIGHT, "epoch": 0}
    rows = [{**good, "offset": each, "day": MIDNIGHT.date(), **changes.get(each, {})} for each in range(count)]
    write_deltalake(lake.layout.bronze(SOURCE), pa.Table.from_pylist(rows, BRONZE))


def look(lake: ToyLake) -> list[bool]:
    return list(runpy.run_path(str(JOB))["checked"](lake.spark, lake.layout, lake.release, SOURCE, MIDNIGHT, Touched()))


def said(lake: ToyLake) -> Checked:
    return next(one for one in checks(lake.layout.root) if one.table == bronze_of(SOURCE))


def test_records_and_dispositions_are_judged_each_by_their_suite(lake: ToyLake) -> None:
    archived(lake, {})
    lake.epoch([fact(), fact()])
    assert (look(lake), {one.table for one in checks(lake.layout.root)}) == ([True, True], {SOURCE, bronze_of(SOURCE)})


@pytest.mark.parametrize(
    "broken",
    [{"offset": 0}, {"offset": None}, {"offset": -1}, {"partition": None}, {"epoch": None}],
    ids=["a place twice", "no offset", "an offset before the first", "no partition", "no epoch"],
)
def test_a_record_without_a_place_of_its_own_is_refused(lake: ToyLake, broken: dict[str, Any]) -> None:
    archived(lake, {1: broken})
    assert (look(lake), said(lake).severity) == ([False], "critical")


@pytest.mark.parametrize(
    "stray", [{"value": None}, {"key": None}, {"headers": None}], ids=["no value", "no key", "no envelope"]
)
def test_many_records_from_past_the_collector_are_a_warning(lake: ToyLake, stray: dict[str, Any]) -> None:
    archived(lake, dict.fromkeys(range(ENOUGH_RECORDS // 20), stray), ENOUGH_RECORDS)
    assert (look(lake), said(lake).severity) == ([True], "warning")


def test_a_few_are_noise(lake: ToyLake) -> None:
    archived(lake, {1: {"value": None}}, ENOUGH_RECORDS)
    assert (look(lake), said(lake).failed) == ([True], "[]")


def test_what_came_in_another_hour_is_not_judged(lake: ToyLake) -> None:
    archived(lake, {each: {"timestamp": MIDNIGHT + LATER, "offset": None} for each in range(2)})
    assert look(lake) == []


def test_of_a_record_that_is_refused_nobody_s_bytes_are_told(lake: ToyLake) -> None:
    archived(lake, {1: {"partition": None}})
    look(lake)
    (row,) = json.loads(said(lake).sample)
    assert (row["offset"], {row[name] for name in ("key", "value", "headers")}) == ("1", {"•••"})
