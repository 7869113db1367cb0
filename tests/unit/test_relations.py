"""Silver as DuckDB reads it itself is what Arrow says, and Arrow says it where DuckDB would misread a name."""

from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable
from deltalake.schema import Field, PrimitiveType
from toy_lake import ToyLake, fact

from penstock.lake.layout import Layout
from penstock.lake.relations import relation
from penstock.model.domain import Domain


def silver(root: Path, toy: Domain) -> DeltaTable:
    lake = ToyLake(None, Layout(str(root)), toy)
    lake.epoch([fact("ann"), fact("it's", 1500, None)])
    return DeltaTable(lake.layout.silver("r1", "toy.events"))


@pytest.mark.parametrize(
    ("folder", "itself"),
    [("lake", True), ("who's", True), ("day=2020-01-01", False), ("[lake]", False), ("la*e", False)],
)
def test_its_rows_are_the_same_wherever_it_lies(tmp_path: Path, toy: Domain, folder: str, itself: bool) -> None:
    table = silver(tmp_path / folder, toy)
    with duckdb.connect() as engine:
        engine.execute("set timezone = 'UTC'")
        relation(engine, "rows", table)
        views = engine.execute(
            "select count(*) from duckdb_views() where view_name = 'rows' and sql like '%read_parquet%'"
        ).fetchall()
        rows = engine.sql('select * from rows order by "offset"').to_arrow_table()
    said = table.to_pyarrow_table().sort_by("offset")
    assert rows.select(said.column_names).cast(said.schema).equals(said)
    assert views == [(int(itself),)]


def test_a_name_that_another_table_had_is_that_of_the_new_one(tmp_path: Path, toy: Domain) -> None:
    full = silver(tmp_path / "full", toy)
    empty = DeltaTable.create(str(tmp_path / "empty"), full.schema())
    with duckdb.connect() as engine:
        counts = []
        for table in (full, empty, full):
            relation(engine, "rows", table)
            counts += engine.sql("select count(*) from rows").fetchall()[0]
    assert counts == [2, 0, 2]


def test_a_column_that_no_file_has_yet_is_there(tmp_path: Path, toy: Domain) -> None:
    table = silver(tmp_path, toy)
    table.alter.add_columns([Field("since", PrimitiveType("string"))])
    with duckdb.connect() as engine:
        relation(engine, "rows", DeltaTable(table.table_uri))
        assert engine.sql("select count(*), count(since) from rows").fetchall() == [(2, 0)]
