# ruff: noqa: S608 - names of views and sources only; the analyst's text runs where nothing can be reached
"""SQL for analysts: DuckDB over views and facts as tables, with access to nothing else."""

import duckdb
import pyarrow as pa

from penstock.lake import sketches
from penstock.lake.dialect import teach
from penstock.lake.layout import Layout
from penstock.lake.names import bronze_of
from penstock.lake.publication import open_table
from penstock.lake.releases import current, registry
from penstock.model.domain import domains
from penstock.serve.reader import Reader

MEMORY = "2GB"
ROWS = 100_000


class NotSql(ValueError):
    """The query cannot be run; the message has DuckDB's reason and the tables that there are."""


def run(layout: Layout, text: str) -> pa.Table:
    """The rows of one query. Tables: each view (dots as underscores) in its smallest buckets, each source's facts, and
    `bronze_` before its name: its records."""
    with duckdb.connect(":memory:", config={"memory_limit": MEMORY}) as engine:
        # Conditions that an alert tells are asked here.
        teach(engine)
        sketches.register(engine)
        for name, rows in tables(layout).items():
            engine.register(name, rows)
        engine.execute("set enable_external_access = false")
        engine.execute("set lock_configuration = true")
        try:
            return engine.sql(f"select * from ({text.strip().rstrip(';')}) limit {ROWS}").to_arrow_table()
        except duckdb.Error as error:
            raise NotSql(f"{str(error).splitlines()[0]}. Tables: {', '.join(tables(layout))}") from error


def tables(layout: Layout) -> dict[str, pa.Table]:
    """What can be asked: views as they are shown, and as datasets, which are read as far as the query needs, facts
    and what a gate refused."""
    reader = Reader(layout)
    reader.refresh()
    shown = {view.name: reader.table(view) for domain in domains().values() for view in domain.views}
    facts = {
        source.name: table.to_pyarrow_dataset()
        for domain in domains().values()
        for source in domain.sources
        if (table := open_table(layout.silver(current(layout, domain.name), source.name))) is not None
    }
    records = {
        bronze_of(source.name): table.to_pyarrow_dataset()
        for domain in domains().values()
        for source in domain.sources
        if (table := open_table(layout.bronze(source.name))) is not None
    }
    refused = {
        f"refused.{release}.{view.name}": table.to_pyarrow_dataset()
        for domain in domains().values()
        # Also of one that is being made: its gates are heard as well.
        for release in registry(layout, domain.name).releases
        for view in domain.views
        if (table := open_table(layout.candidate(release, view.name))) is not None
    }
    found = {**records, **facts, **shown, **refused}
    return {name.replace(".", "_"): rows for name, rows in found.items() if rows is not None}
