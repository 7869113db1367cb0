"""What DuckDB must be taught of Spark's SQL, so that one text of a condition is asked of both."""

import warnings

import duckdb
import pyarrow as pa

# An epoch asks the same few dozen texts as the one before; whoever writes numbers into a text asks it once.
REMEMBERED = 256
# Of so many a copy takes as long as to plan a statement twice (docs/decisions/0051).
MANY_ROWS = 20_000
_read_already: dict[str, duckdb.Statement] = {}
# DuckDB's word for `planned_once`; measured below.
warnings.filterwarnings("ignore", "Arrow output on a DB-API result makes an extra copy", UserWarning)


def teach(engine: duckdb.DuckDBPyConnection) -> None:
    """Days and hours are UTC's, and conditions may say what Spark knows by another name."""
    engine.execute("set TimeZone = 'UTC'")
    engine.execute("create or replace temp macro regexp_like(said, pattern) as regexp_matches(said, pattern)")


def table_of(engine: duckdb.DuckDBPyConnection, sql: str, rows: int) -> pa.Table:
    """The rows of a statement that has about so many."""
    return planned_once(engine, sql) if rows < MANY_ROWS else engine.sql(sql).to_arrow_table()


def planned_once(engine: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The rows of a statement over an epoch's few.

    DuckDB's relations plan a statement twice, to say what it gives and to give it: a third of what 1,000 rows take.
    This makes a copy instead. A text is parsed once: that of a shape takes a fifth of what 20 records take.
    """
    return engine.execute(_read(engine, sql)).to_arrow_table()


def _read(engine: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statement = _read_already.get(sql)
    if statement is None:
        if len(_read_already) >= REMEMBERED:
            _read_already.clear()
        (statement,) = engine.extract_statements(sql)
        _read_already[sql] = statement
    return statement
