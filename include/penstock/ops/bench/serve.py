# ruff: noqa: S608 - a table's own columns, and numbers of this module
"""Six dashboard questions over 90 days of gold and a live tail that grows each second, asked by 8 clients of a server.

The peers are plain DuckDB and warm Spark SQL on the published rows alone, held in memory: the questions as an analyst
writes them, by the same sketches, without speed, HTTP and certificate. Ours are asked anew after each epoch, as
dashboards do.
"""

import json
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

from penstock.lake import sketches
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.local import Local
from penstock.lake.names import quoted
from penstock.lake.publication import Publication
from penstock.model.bucket import widths
from penstock.model.domain import view
from penstock.model.view import Tally
from penstock.ops.bench import Figure
from penstock.ops.rig import serving
from penstock.ops.stack.trial import free_port
from penstock.serve.engine import Engine
from penstock.serve.question import Question, ask
from penstock.serve.reader import Reader
from penstock.settings import Settings

VIEW = "web.pageviews"
START = datetime(2026, 6, 1, tzinfo=UTC)
CLIENTS = 8
EPOCHS, TAIL = 60, 10
A_DAY, QUICK_A_DAY = 20_000, 1_000
SECONDS, QUICK_SECONDS = 60, 8
ROUNDS = 10
SPARK_JOB = Path(__file__).parents[1] / "load" / "spark_questions.py"
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
        facts = fill(Layout(settings.lake), tally, QUICK_A_DAY if quick else A_DAY)
        with serving(settings):
            yield from figures(settings, tally, facts, QUICK_SECONDS if quick else SECONDS)


def figures(settings: Settings, tally: Tally, facts: int, seconds: float) -> Iterator[Figure]:
    address = f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}"
    first_answer(address)
    warm = [_timed(client, address, question) for client in [httpx.Client()] for question in QUESTIONS]
    with ThreadPoolExecutor(CLIENTS + 1) as clients:
        until = time.perf_counter() + seconds
        growing = clients.submit(_grow, Layout(settings.lake), tally, until)
        asking = [clients.submit(_ask, address, until) for _ in range(CLIENTS)]
        told = sorted(one for each in asking for one in each.result())
        facts += growing.result()
    peer, by_hand = _peer(settings)
    right = _total(address, facts) == facts and by_hand[0][0]["n"] == facts - TAIL * (EPOCHS + growing.result() // TAIL)
    middle, late = (round(told[int(len(told) * rank)] * 1000, 1) for rank in (0.5, 0.99))
    detail = {
        "questions": len(told),
        "clients": CLIENTS,
        "facts": facts,
        "p50_ms": middle,
        "first_ms": max(warm) * 1000,
    }
    yield Figure("serve", "ms at p99, 8 clients", late, goal="<= 50 ms", gate_ok=right, detail=detail)
    alone = _alone(settings, Layout(settings.lake), tally)
    yield Figure("serve", "mean ms after an epoch", alone, peer=peer, goal="<= 1.3x", gate_ok=right)
    warm_spark, by_spark = _spark(settings)
    same = right and _agree(by_hand, by_spark)
    yield Figure(
        "serve", "mean ms after an epoch, Spark SQL beside it", alone, warm_spark, goal="<= 0.1x", gate_ok=same
    )


def _ask(address: str, until: float) -> list[float]:
    """One dashboard: a connection that is kept, and one question after the other."""
    with httpx.Client() as client:
        told: list[float] = []
        while time.perf_counter() < until:
            told += [_timed(client, address, question) for question in QUESTIONS]
        return told


def _grow(layout: Layout, tally: Tally, until: float) -> int:
    """An epoch a second. Says how many facts came."""
    number = EPOCHS
    while time.perf_counter() < until:
        number += 1
        epoch(layout, tally, number)
        time.sleep(1)
    return (number - EPOCHS) * TAIL


def _alone(settings: Settings, layout: Layout, tally: Tally) -> float:
    """Mean milliseconds of a question to a reader in this process that has just seen a new epoch."""
    reader, spent = Reader(layout), []
    for number in range(1_000, 1_000 + ROUNDS):
        reader.refresh()
        for question in _questions(reader):
            begun = time.perf_counter()
            reader.answer(question)
            spent.append(time.perf_counter() - begun)
        epoch(layout, tally, number)
    # The first round reads what is held from then on, as the peer's table is.
    measured = spent[len(QUESTIONS) :]
    return round(sum(measured) / len(measured) * 1000, 1)


def _questions(reader: Reader) -> list[Question]:
    now = START + timedelta(days=91)
    return [ask(reader.view(VIEW), list({**RANGE, **each}.items()), now) for each in QUESTIONS]


def _total(address: str, facts: int) -> int:
    """What the server counts, once it has seen the last epoch."""
    total = 0
    for _ in range(100):
        row = httpx.get(address, params=RANGE, timeout=30).json()["rows"][0]
        total = int(row["views"])
        if total == facts:
            break
        time.sleep(0.1)
    return total


def fill(layout: Layout, tally: Tally, a_day: int) -> int:
    """90 days of gold in all widths and an open tail of epochs. Says how many facts there are."""
    gold = _all_widths(tally, _partials(tally, START, 90, 0, 90 * a_day))
    said = Publication({"web.events": 0}, FIRST_RELEASE).to_metadata()
    write_deltalake(
        layout.gold(FIRST_RELEASE, tally.name), gold, partition_by=["day", "width"],
        commit_properties=CommitProperties(custom_metadata={"userMetadata": said}),
    )  # fmt: skip
    for number in range(1, EPOCHS + 1):
        epoch(layout, tally, number)
    return 90 * a_day + EPOCHS * TAIL


def epoch(layout: Layout, tally: Tally, number: int) -> None:
    """Some facts more, on the last day."""
    rows = _partials(tally, START + timedelta(days=90), 1, number * TAIL, (number + 1) * TAIL)
    stamped = rows.append_column("epoch", pa.array([number] * rows.num_rows, pa.int64()))
    write_deltalake(layout.speed(FIRST_RELEASE, tally.name), stamped, mode="append", partition_by=["day"])


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


def first_answer(address: str) -> dict[str, Any]:
    for _ in range(300):
        try:
            told = httpx.get(address, params=RANGE, timeout=30).json()
            if told.get("rows"):
                return dict(told)
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError("the server did not answer in 30 s")


def _timed(client: httpx.Client, address: str, question: dict[str, str]) -> float:
    begun = time.perf_counter()
    client.get(address, params={**RANGE, **question}, timeout=60).raise_for_status()
    return time.perf_counter() - begun


# {seen} is the number of visitors of some rows, {from_} the last question's first moment.
BY_HAND = (
    "select sum(views) as n, {seen} as seen from days",
    "select bucket, sum(views) as n, {seen} as seen from days group by all order by all",
    "select date_trunc('week', bucket) as week, site, sum(views) as n, {seen} as seen from days "
    "group by all order by all",
    "select page, sum(views) as n, {seen} as seen from days group by page order by n desc, page limit 10",
    "select page, sum(views) as n, {seen} as seen from days where site = 's1' group by page "
    "order by n desc, page limit 10",
    "select bucket, sum(views) as n, {seen} as seen from hours where bucket >= {from_} group by bucket order by bucket",
)
DUCKDB = {
    "seen": "hll_estimate(hll_union(list(visitors__hll)))",
    "from_": f"timestamptz '{QUESTIONS[-1]['from']}'",
}
SPARK = {
    "seen": "hll_sketch_estimate(hll_union_agg(visitors__hll, true))",
    "from_": f"timestamp '{QUESTIONS[-1]['from']}'",
}
# Both engines estimate from registers; of a sketch alone, Spark may use the order of its updates as well.
SKETCHED = 0.05
Rows = list[dict[str, Any]]


def _peer(settings: Settings) -> tuple[float, list[Rows]]:
    """Mean milliseconds of the same questions by DuckDB over what was published; and its answers."""
    table = DeltaTable(Layout(settings.lake).gold(FIRST_RELEASE, VIEW))
    engine = duckdb.connect(":memory:", config={"threads": 2})
    engine.execute("set TimeZone = 'UTC'")
    sketches.register(engine)
    for name, width in (("days", "1 day"), ("hours", "1 hour")):
        engine.register("rows", table.to_pyarrow_table(partitions=[("width", "=", width)]))
        engine.execute(f"create table {name} as select * from rows")
    questions = [question.format(**DUCKDB) for question in BY_HAND]
    begun = time.perf_counter()
    for _ in range(ROUNDS):
        told = [engine.sql(question).to_arrow_table().to_pylist() for question in questions]
    return round((time.perf_counter() - begun) / ROUNDS / len(questions) * 1000, 1), told


def _spark(settings: Settings) -> tuple[float, list[Rows]]:
    """The same by Spark SQL over the same rows, which it holds in memory, after some rounds that are not counted."""
    asked = settings.home / "questions.json"
    questions = [question.format(**SPARK) for question in BY_HAND]
    asked.write_text(json.dumps({"warm": ROUNDS, "rounds": ROUNDS, "questions": questions}))
    run = subprocess.run(
        [sys.executable, str(SPARK_JOB), Layout(settings.lake).gold(FIRST_RELEASE, VIEW), str(asked)],
        env={**os.environ, **settings.to_env()},
        stdout=subprocess.PIPE,
        check=True,
    )
    told = json.loads(run.stdout.splitlines()[-1])
    return float(told["ms"]), told["rows"]


def _agree(one: list[Rows], other: list[Rows]) -> bool:
    """Whether two engines gave the same rows: counts alike, what is sketched within its error."""
    return len(one) == len(other) and all(
        len(mine) == len(theirs) and all(map(_same, mine, theirs)) for mine, theirs in zip(one, other, strict=True)
    )


def _same(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    seen, sketched = (float(row["seen"]) for row in (mine, theirs))
    rest = [{name: str(value) for name, value in row.items() if name != "seen"} for row in (mine, theirs)]
    return rest[0] == rest[1] and abs(seen - sketched) <= SKETCHED * seen
