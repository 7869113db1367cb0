"""What DuckDB must be taught of Spark's SQL, so that one text of a condition is asked of both."""

import duckdb


def teach(engine: duckdb.DuckDBPyConnection) -> None:
    """Days and hours are UTC's, and conditions may say what Spark knows by another name."""
    engine.execute("set TimeZone = 'UTC'")
    engine.execute("create or replace temp macro regexp_like(said, pattern) as regexp_matches(said, pattern)")
