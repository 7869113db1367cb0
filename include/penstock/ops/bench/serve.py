# ruff: noqa: S608 - a table's own columns, and numbers of this module
"""Six dashboard questions over 90 days of gold and a live tail, asked by 8 clients of a real server.

The peer is DuckDB on the published files alone: the same SQL over the same rows, without speed, HTTP or certificate.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.local import Local
from penstock.lake.publication import Publication
from penstock.model.bucket import widths
from penstock.model.domain import view
from penstock.model.view import Tally
from penstock.ops.bench import Figure
from penstock.ops.stack.trial import free_port
from penstock.serve.engine import Engine
from penstock.serve.names import quoted
from penstock.serve.question import ask
from penstock.serve.reader import Reader
from penstock.settings import Settings

VIEW = "web.pageviews"
START = datetime(2026, 6, 1, tzinfo=UTC)
CLIENTS = 8
EPOCHS = 60
RANGE = {"from": START.isoformat(), "to": (START + timedelta(days=91)).isoformat()}
QUESTIONS: tuple[dict[str, str], ...] = (
    {},
    {"every": "1 day"},
    {"every": "1 week", "by": "site"},
    {"by": "page", "order": "-views", "limit": "10"},
    {"by": "page", "where": "site:eq:s1", "limit": "10"},
    {"every": "1 hour", "from": (START + timedelta(days=88)).isoformat()},
)
FACTS = """
select 'pageview' as type, false as bot, 's' || (hash(i) % 5) as site, '/p' || (hash(i, 1) % 40) as page,
    'v' || (hash(i, 2) % 20000) as visitor, null::bigint as load_ms,
    timestamptz '{start}' + to_microseconds((hash(i, 3) % ({days} * 86400000000))::bigint) as happened_at
from range({first}, {last}) t(i)
"""


def run(quick: bool) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as home:
        settings = Settings(home=Path(home), lake=f"{home}/lake", kafka="127.0.0.1:1", serve_port=free_port())
        tally = view(VIEW)
        assert isinstance(tally, Tally)
        facts = fill(Layout(settings.lake), tally, 1_000 if quick else 20_000)
        server = subprocess.Popen(
            [sys.executable, "-m", "penstock.serve"], env={**os.environ, **settings.to_env()}, stdout=subprocess.DEVNULL
        )
        try:
            yield from figures(settings, facts, 10 if quick else 100)
        finally:
            server.terminate()
            server.wait()


def figures(settings: Settings, facts: int, rounds: int) -> Iterator[Figure]:
    address = f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}"
    total = _first_answer(address)
    with ThreadPoolExecutor(CLIENTS) as clients:
        asked = clients.map(lambda _: [_timed(address, question) for question in QUESTIONS], range(rounds * CLIENTS))
        seconds = sorted(one for each in asked for one in each)
    peer = _peer(settings, rounds)
    right = total["rows"][0]["views"] == total["certificate"]["facts"] == facts
    middle, late = (round(seconds[int(len(seconds) * rank)] * 1000, 1) for rank in (0.5, 0.99))
    detail = {"questions": len(seconds), "clients": CLIENTS, "facts": facts, "p50_ms": middle}
    yield Figure("serve", "ms at p99, 8 clients", late, goal="<= 50 ms", gate_ok=right, detail=detail)
    alone = sorted(_timed(address, question) for question in QUESTIONS for _ in range(rounds))
    one = round(sum(alone) / len(alone) * 1000, 1)
    yield Figure("serve", "mean ms, one client, batch and speed", one, peer=peer, goal="<= 1.3x", gate_ok=right)


def fill(layout: Layout, tally: Tally, a_day: int) -> int:
    """90 days of gold in all widths and an open tail of epochs. Says how many facts there are."""
    gold = _all_widths(tally, _partials(tally, START, 90, 0, 90 * a_day))
    said = Publication({"web.events": 0}, FIRST_RELEASE).to_metadata()
    write_deltalake(
        layout.gold(FIRST_RELEASE, tally.name), gold, partition_by=["day", "width"],
        commit_properties=CommitProperties(custom_metadata={"userMetadata": said}),
    )  # fmt: skip
    for epoch in range(1, EPOCHS + 1):
        rows = _partials(tally, START + timedelta(days=90), 1, epoch * 10, epoch * 10 + 10)
        stamped = rows.append_column("epoch", pa.array([epoch] * rows.num_rows, pa.int64()))
        write_deltalake(layout.speed(FIRST_RELEASE, tally.name), stamped, mode="append", partition_by=["day"])
    return 90 * a_day + EPOCHS * 10


def _partials(tally: Tally, start: datetime, days: int, first: int, last: int) -> pa.Table:
    with duckdb.connect(":memory:") as engine:
        engine.execute("set TimeZone = 'UTC'")
        facts = engine.sql(FACTS.format(start=start.isoformat(), days=days, first=first, last=last)).to_arrow_table()
    return Local(facts).partials(tally)


def _all_widths(tally: Tally, own: pa.Table) -> pa.Table:
    """Partials in the widths that a build writes."""
    folds = [f"{sql} as {quoted(c)}" for name, m in tally.measures.items() for c, sql in m.folds(name).items()]
    keys = ", ".join(map(quoted, tally.by))
    levels = [own]
    for width in widths(tally.every)[1:]:
        moment = width.duckdb("timezone('UTC', bucket)")
        sql = (
            f"select day, '{width.name}' as width, timezone('UTC', moment) as bucket, {keys}, "
            f"cast(sum(facts) as bigint) as facts, {', '.join(folds)} from (select *, {moment} as moment from rows) "
            f"group by day, moment, {keys}"
        )
        levels.append(Engine().table(sql, {"rows": levels[-1]}).cast(own.schema))
    return pa.concat_tables(levels)


def _first_answer(address: str) -> dict[str, Any]:
    for _ in range(300):
        try:
            told = httpx.get(address, params=RANGE, timeout=30).json()
            if told.get("rows"):
                return dict(told)
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError("the server did not answer in 30 s")


def _timed(address: str, question: dict[str, str]) -> float:
    begun = time.perf_counter()
    httpx.get(address, params={**RANGE, **question}, timeout=60).raise_for_status()
    return time.perf_counter() - begun


def _peer(settings: Settings, rounds: int) -> float:
    """Mean milliseconds of the same questions by DuckDB over what was published, its files read once."""
    layout = Layout(settings.lake)
    gold_only = Layout(f"{settings.home}/gold-only")
    Path(gold_only.gold(FIRST_RELEASE, "")).parent.mkdir(parents=True)
    Path(gold_only.gold(FIRST_RELEASE, VIEW)).parent.mkdir(exist_ok=True)
    Path(gold_only.gold(FIRST_RELEASE, VIEW)).symlink_to(DeltaTable(layout.gold(FIRST_RELEASE, VIEW)).table_uri[7:])
    reader = Reader(gold_only)
    reader.refresh()
    now = START + timedelta(days=91)
    questions = [ask(reader.view(VIEW), list({**RANGE, **each}.items()), now) for each in QUESTIONS]
    [reader.answer(question) for question in questions]
    begun = time.perf_counter()
    for _ in range(rounds):
        [reader.answer(question) for question in questions]
    return round((time.perf_counter() - begun) / rounds / len(questions) * 1000, 1)
