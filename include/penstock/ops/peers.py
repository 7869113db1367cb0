# ruff: noqa: S608 - questions of this module
"""Six of the web views, counted from silver's files by DuckDB and by Polars: no gates, wider widths or commits.

They are given some days at once, as a build's tasks are: a hundred million facts' minutes, each with its sketches, fill
the memory and the disk of a small machine.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from penstock.engine.daily import runs
from penstock.lake.files import file_list, rows_by_day


@dataclass(frozen=True)
class Question:
    """A view's counts by bucket and keys, and numbers that sketches or sorting have to answer."""

    view: str
    every: str
    by: tuple[str, ...]
    distinct: str = ""
    quantile: str = ""
    type: str = "pageview"

    def duckdb(self) -> str:
        more = f", approx_count_distinct({self.distinct})" if self.distinct else ""
        more += f", approx_quantile({self.quantile}, 0.95)" if self.quantile else ""
        keys = ", ".join(f'"{name}"' for name in self.by)
        return f"select date_trunc('{self.every}', happened_at) as bucket, {keys}, count(*) as facts{more}"


QUESTIONS = (
    Question("web.pageviews", "minute", ("site", "page"), distinct="visitor"),
    Question(
        "web.pageviews_by_region", "minute", ("site", "country", "region"), distinct="visitor", quantile="load_ms"
    ),
    Question("web.views_by_user", "hour", ("site", "user")),
    Question("web.sources", "minute", ("site", "referrer_source", "channel"), distinct="visitor"),
    Question("web.devices", "minute", ("site", "device", "browser", "os"), distinct="visitor"),
    Question("web.engagement", "minute", ("site", "page"), type="engagement"),
)
WIDTHS = {"minute": "1m", "hour": "1h"}


@dataclass(frozen=True)
class Peers:
    """What each took, and whether both gave the same rows (keys and counts; sketches are each engine's own)."""

    duckdb: float
    polars: float
    equal: bool


# What both have had room for.
ROWS_AT_ONCE = 10_000_000


def asked(silver: str) -> Peers:
    duckdb_seconds, polars_seconds, same = 0.0, 0.0, True
    with duckdb.connect(":memory:", config={"threads": 2}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        for files in spans(silver, ROWS_AT_ONCE):
            begun = time.perf_counter()
            for number, question in enumerate(QUESTIONS):
                told = f"{question.duckdb()} from read_parquet(?) where type = '{question.type}' group by all"
                engine.execute(f"create or replace table answer{number} as {told}", [files])
            first = time.perf_counter()
            answers = in_polars(files)
            second = time.perf_counter()
            duckdb_seconds, polars_seconds = duckdb_seconds + first - begun, polars_seconds + second - first
            same &= all(_same(engine, number, answer) for number, answer in enumerate(answers))
    return Peers(round(duckdb_seconds, 2), round(polars_seconds, 2), same)


def spans(silver: str, most: int) -> Iterator[list[str]]:
    """The files of some days that follow each other, of so many rows at most where a day has no more."""
    table, files = DeltaTable(silver), dict[date, list[str]]()
    for file in file_list(table):
        files.setdefault(file.partition["day"], []).append(file.uri.removeprefix("file://"))
    for days in runs(sorted(files), rows_by_day(table), most):
        yield [name for day in days for name in files[day]]


def in_polars(files: Sequence[str]) -> list[pa.Table]:
    # Only the benchmark needs it: it is a development dependency.
    import polars as pl

    def answer(question: Question) -> pa.Table:
        more = [pl.col(question.distinct).approx_n_unique().alias("distinct")] if question.distinct else []
        more += [pl.col(question.quantile).quantile(0.95).alias("p95")] if question.quantile else []
        bucket = pl.col("happened_at").dt.truncate(WIDTHS[question.every]).alias("bucket")
        facts = pl.scan_parquet(list(files), hive_partitioning=False).filter(pl.col("type") == question.type)
        return facts.group_by(bucket, *question.by).agg(pl.len().alias("facts"), *more).collect().to_arrow()

    return [answer(question) for question in QUESTIONS]


def _same(engine: duckdb.DuckDBPyConnection, number: int, answer: pa.Table) -> bool:
    engine.register("other", answer)
    names = ", ".join(f'"{name}"' for name in ("bucket", *QUESTIONS[number].by, "facts"))
    one, two = f"select {names} from answer{number}", f"select {names} from other"
    apart = engine.execute(f"select count(*) from (({one} except all {two}) union all ({two} except all {one}))")
    return bool(apart.fetchall() == [(0,)])
