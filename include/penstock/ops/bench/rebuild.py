# ruff: noqa: S608 - a source's own columns, and numbers of this module
"""Six views of the web domain from silver: the build job as an operator runs it, gates included.

The peers are DuckDB and Polars, which count the same six views from the same files (ops/peers.py). A build also keeps
hours and days, sketches, and an hour's users. Then what history costs: a tenth of the facts, and one day after all of
them beside the same day alone.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
from deltalake import DeltaTable, write_deltalake

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.bucket import Bucket
from penstock.model.domain import source, views_of
from penstock.model.source import Source
from penstock.ops import peers
from penstock.ops.bench import Figure
from penstock.ops.load.jobs import Took, took
from penstock.serve.question import EARLIEST, LATEST, Question
from penstock.serve.reader import ALL_ROWS, Reader
from penstock.settings import Settings

SOURCE = "web.events"
DAYS = 90
# Facts that are made at once, and files that a day has at most.
PIECE, FILES = 1_000_000, 10
START = datetime(2026, 6, 1, tzinfo=UTC)
GIVEN = {
    "type": "case when hash(i, 4) % 10 < 8 then 'pageview' else 'engagement' end",
    "site": "'s' || (hash(i) % 5)",
    "visitor": "'v' || (hash(i, 2) % 50000)",
    "url": "'https://a.example/p' || (hash(i, 1) % 40)",
    "host": "'a.example'",
    "page": "'/p' || (hash(i, 1) % 40)",
    "user": "case when hash(i, 2) % 5 = 0 then 'u' || (hash(i, 2) % 9000) end",
    "load_ms": "(hash(i, 5) % 3000)::bigint",
    "country": "'c' || (hash(i, 2) % 7)",
    "region": "'r' || (hash(i, 2) % 20)",
    "referrer_source": "'Direct'",
    "channel": "'Direct'",
    "browser": "'b' || (hash(i, 2) % 4)",
    "os": "'o' || (hash(i, 2) % 3)",
    "device": "'Desktop'",
    "bot": "false",
}
TYPES = {"bigint": "bigint", "boolean": "boolean", "map<string,string>": "map(varchar, varchar)"}
SIX = tuple(question.view for question in peers.QUESTIONS)
FACTS, QUICK_FACTS = 100_000_000, 10_000_000


def run(quick: bool) -> Iterator[Figure]:
    facts = int(os.environ.get("PENSTOCK_BENCH_FACTS", QUICK_FACTS if quick else FACTS))
    with filled(facts // 10) as (settings, silver):
        tenth = built(settings, *SIX)
        right = counted(Layout(settings.lake)) == page_views(silver)
        detail = {"facts": facts // 10, "days": DAYS, "with": "the JVM's start and the gates"}
        left = len(views_of(source(SOURCE))) - len(SIX)
        seconds = build(settings)
        yield Figure("rebuild", f"seconds, the other {left} views of all days", seconds, gate_ok=right, detail=detail)
    with filled(facts) as (settings, silver):
        layout = Layout(settings.lake)
        six = built(settings, *SIX)
        beside = peers.asked(silver)
        right = counted(layout) == page_views(silver) and beside.equal
        detail = {"facts": facts, "days": DAYS, **six.detail, "with": "the start and the gates"}
        for name, peer, goal in (("DuckDB", beside.duckdb, "<= 2.5x"), ("Polars", beside.polars, None)):
            what = f"seconds, six views of all days, beside {name}"
            yield Figure("rebuild", what, six.seconds, peer=peer, goal=goal, gate_ok=right, detail=detail)
        what = "seconds, six views of all days, beside a tenth of the facts"
        detail = {**six.detail, "a tenth": tenth.detail}
        yield Figure("rebuild", what, six.seconds, tenth.seconds, goal="<= 9x", gate_ok=right, detail=detail)
        yield Figure("rebuild", "GB of memory at most, six views of all days", six.cost.peak_gb, goal="<= 8")
        fill(silver, facts // DAYS, 1)
        last = built(settings, *SIX)
        right = counted(layout) == page_views(silver)
    with filled(0) as (settings, silver):
        fill(silver, facts // DAYS, 1)
        first = built(settings, *SIX)
        right = right and counted(Layout(settings.lake)) == page_views(silver)
    what = f"seconds, six views of a day after {DAYS} others, beside it alone"
    detail = {**last.detail, "alone": first.detail}
    yield Figure("rebuild", what, last.seconds, first.seconds, goal="<= 1.1x", gate_ok=right, detail=detail)


@contextmanager
def filled(facts: int, days: int = DAYS) -> Iterator[tuple[Settings, str]]:
    """A lake with so many facts over all days and nothing built: its settings, and where its silver is."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as home:
        settings = Settings(home=Path(home), lake=f"{home}/lake", kafka="127.0.0.1:1")
        silver = Layout(settings.lake).silver(FIRST_RELEASE, SOURCE)
        fill(silver, facts, 0, days)
        yield settings, silver


def fill(silver: str, facts: int, epoch: int, days: int = DAYS) -> None:
    """Facts over all days as epoch 0, over the day after them as epoch 1."""
    asked = source(SOURCE)
    days, start = (days, START) if epoch == 0 else (1, START + timedelta(days=days))
    # A few files a day, as after maintenance; in pieces, so that memory stays bounded.
    pieces = -(-facts // PIECE)
    spans = max(1, min(days, pieces // FILES))
    with duckdb.connect(":memory:", config={"memory_limit": "4GB"}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        for piece in range(pieces):
            first, last = (days * each // spans for each in (piece * spans // pieces, piece * spans // pieces + 1))
            numbers = piece * PIECE, min(facts, (piece + 1) * PIECE)
            told = _facts(asked, *numbers, start + timedelta(days=first), last - first, epoch)
            rows = engine.sql(told).to_arrow_table()
            write_deltalake(silver, rows, mode="append", partition_by=["day"])


def _facts(asked: Source, first: int, last: int, start: datetime, days: int, epoch: int) -> str:
    at = f"timestamptz '{start.isoformat()}' + to_microseconds((hash(i, 3) % ({days} * 86400000000))::bigint)"
    fields = ", ".join(
        f'{GIVEN.get(field.name, "null")}::{TYPES.get(field.type, "varchar")} as "{field.name}"'
        for field in asked.fields
    )
    return (
        f"select 0::int as partition, i::bigint as offset, {epoch}::bigint as epoch, 'e{epoch}-' || i as event_id, "
        f"moment as happened_at, moment as received_at, moment as logged_at, moment::date as day, "
        f"'fact' as disposition, null::varchar as reason, []::varchar[] as flags, {fields}, "
        "0::bigint as content_hash, null::blob as raw, null::varchar as known "
        f"from (select i, {at} as moment from range({first}, {last}) t(i))"
    )


def build(settings: Settings, *views: str) -> float:
    """Seconds of the job; of all views where none is named."""
    return built(settings, *views).seconds


def built(settings: Settings, *views: str) -> Took:
    return took(settings, "build_views", "--domain=web", *(f"--view={name}" for name in views))


def counted(layout: Layout) -> int:
    """The page views that readers see. By the day: minutes of millions of facts are more than one answer may hold."""
    reader = Reader(layout)
    reader.refresh()
    view = reader.view("web.pageviews")
    rows = reader.rows(Question(view, EARLIEST, LATEST, Bucket.of("1 day"), limit=ALL_ROWS))
    return 0 if rows is None else sum(rows["views"].to_pylist())


def page_views(silver: str) -> int:
    """Those that silver has."""
    files = [uri.removeprefix("file://") for uri in DeltaTable(silver).file_uris()]
    counted = duckdb.execute("select count(*) from read_parquet($1) where type = 'pageview'", [files]).fetchone()
    return int(counted[0]) if counted else 0
