"""Which days of a tally of sessions are counted anew: those that publications of the sessions have replaced."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from penstock.engine.tallied import replaced
from penstock.lake import publication
from penstock.lake.files import size_of
from penstock.lake.publication import Publication

DAY, NEXT = date(2026, 11, 17), date(2026, 11, 18)


def published(path: Path, cut: int, *days: date, whole: bool = False) -> DeltaTable:
    said = Publication({"toy.events": cut}, "r1", None if whole else [str(day) for day in days])
    note = CommitProperties(custom_metadata={"userMetadata": said.to_metadata()})
    rows = pa.table({"day": [*days] or [DAY], "n": [1] * max(1, len(days))})
    write_deltalake(path, rows, mode="append", partition_by=["day"], commit_properties=note)
    return DeltaTable(path)


def test_days_that_were_replaced_since_the_cut(tmp_path: Path) -> None:
    published(tmp_path, 1, DAY)
    published(tmp_path, 2, NEXT)
    assert replaced(published(tmp_path, 3, DAY), "toy.events", 1) == {DAY, NEXT}


def test_sessions_that_were_all_made_anew_change_every_day(tmp_path: Path) -> None:
    published(tmp_path, 1, DAY)
    published(tmp_path, 2, whole=True)
    assert replaced(published(tmp_path, 3, DAY), "toy.events", 1) is None


def test_a_cut_that_is_too_long_ago_to_be_found_changes_every_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publication, "COMMITS", 2)
    for cut in (1, 2, 3):
        published(tmp_path, cut, DAY)
    assert replaced(published(tmp_path, 4, NEXT), "toy.events", 1) is None


def test_a_table_s_size_from_a_day_on(tmp_path: Path) -> None:
    published(tmp_path, 1, DAY)
    published(tmp_path, 2, NEXT)
    assert [size_of(str(tmp_path), first=first)[0] for first in (DAY, NEXT, date(2026, 11, 19))] == [2, 1, 0]
