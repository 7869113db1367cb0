"""The ledger has each version of a table once, however many post at the same time."""

from collections.abc import Callable
from typing import Any

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from toy_lake import ToyLake, fact

from penstock.engine import posting
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.tablelog import StoreLog
from penstock.model.domain import Domain, source

GOOD = posting.counted


@pytest.mark.parametrize("log", ["on a disk", "on an object store"])
def test_who_counts_slowly_posts_nothing_that_another_posted_meanwhile(
    tmp_path: Any, toy: Domain, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    lake = ToyLake(None, Layout(str(tmp_path)), toy)
    layout, silver = lake.layout, lake.layout.silver(FIRST_RELEASE, "toy.events")
    lake.epoch([fact("ann"), fact("bob")])
    if log == "on an object store":
        monkeypatch.setattr("penstock.engine.commit.log_of", lambda path, table: StoreLog(table))

    def post() -> int:
        return posting.post(layout, (source("toy.events"),), FIRST_RELEASE)

    def slowly(table: str, *of: Any) -> Any:
        if table == silver:
            monkeypatch.setattr(posting, "counted", GOOD)
            # The other one saw less of the table.
            monkeypatch.setattr(posting, "newest", until(posting.newest, 1))
            post()
            monkeypatch.undo()
        return GOOD(table, *of)

    lake.epoch([fact("eve")])
    monkeypatch.setattr(posting, "counted", slowly)
    post()
    booked = DeltaTable(layout.ledger()).to_pyarrow_table()
    assert pc.sum(booked["records"]).as_py() == 3


def until(newest: Callable[[str], int], version: int) -> Callable[[str], int]:
    return lambda table: min(newest(table), version)
