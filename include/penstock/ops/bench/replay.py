# ruff: noqa: S608 - numbers of this module
"""A replay as an operator runs it: all of bronze into a new release, silver and every view behind its gate, two cores.

Bronze is made by DuckDB: page views of 400 bytes, a tenth of which come twice and a hundredth of which are wrong.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.engine.archive import BRONZE, INDEXED
from penstock.engine.commit import Appender, create
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.ops.bench import Figure
from penstock.serve.reader import Reader
from penstock.settings import Settings

SOURCE, RELEASE = "web.events", "r2"
JOB = Path(__file__).parents[4] / "spark_jobs" / "replay.py"
START = datetime(2026, 6, 1, tzinfo=UTC)
DAYS = 90
PARTITIONS, EPOCH = 4, 50_000
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
GOAL = ">= 100000"

# Each tenth record is the one before it once more; each hundredth names no site.
RECORDS = f"""
with numbered as (
    select i, i - (i % 10 = 9)::int as n, $start::timestamptz + i * interval ($gap) microseconds as arrived
    from range($first, $last) r(i))
select null::blob as key,
    encode(json_object('type', 'pageview', 'site', case when n % 100 = 7 then null else 's' || hash(n) % 5 end,
        'visitor', 'v' || hash(n, 2) % 50000,
        'url', 'https://a.example/articles/' || hash(n, 1) % 400 || '/a-title-of-usual-length?utm_source=newsletter',
        'happened_at', epoch_ms($start::timestamptz + n * interval ($gap) microseconds), 'title', 'A title - a.example',
        'language', 'en-GB', 'screen', '1920x1080', 'load_ms', hash(n, 5) % 3000,
        'referrer', 'https://search.example/?q=something', 'user_agent', '{AGENT}')::varchar) as value,
    [struct_pack(key := 'event_id', value := encode('e' || n))] as headers,
    (n % {PARTITIONS})::int as partition, i as "offset", arrived as timestamp, arrived::date as day,
    (i // {EPOCH})::bigint as epoch
from numbered order by partition, "offset"
"""


def run(quick: bool) -> Iterator[Figure]:
    count = int(os.environ.get("PENSTOCK_BENCH_FACTS", "200000" if quick else "5000000"))
    cores = min(2, os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="penstock-") as home:
        settings = Settings(home=Path(home), lake=f"{home}/lake", kafka="127.0.0.1:1")
        layout = Layout(settings.lake)
        fill(layout.bronze(SOURCE), count)
        seconds = _replay(settings, cores)
        right = _right(layout, settings.home, count)
        detail = {"records": count, "cores": cores, "memory": "2g", "what": "bronze to views with gates"}
        rate = count / seconds["whole"]
        yield Figure("replay", "records/s, bronze to views", round(rate), goal=GOAL, gate_ok=right, detail=detail)
        silver = round(count / seconds["silver"])
        yield Figure("replay", "records/s, bronze to silver", silver, gate_ok=right, detail=detail)


def fill(bronze: str, count: int) -> None:
    """The archive of so many records over ninety days."""
    create(bronze, BRONZE, INDEXED)
    archive = Appender(bronze)
    gap = timedelta(days=DAYS) // count // timedelta(microseconds=1)
    with duckdb.connect() as engine:
        engine.execute("set timezone = 'UTC'")
        for epoch, first in enumerate(range(0, count, EPOCH)):
            sql = RECORDS.replace("$gap", str(gap)).replace("$start", f"'{START.isoformat()}'")
            rows = engine.sql(sql, params={"first": first, "last": min(first + EPOCH, count)}).to_arrow_table()
            archive.append(rows.cast(BRONZE), "the-archive", epoch)


def _replay(settings: Settings, cores: int) -> dict[str, float]:
    """Seconds of the whole, without the JVM's start, and of silver alone."""
    words = ["--domain=web", f"--cores={cores}", "--operation=bench", "--who=bench", "--why=to measure it"]
    environ = {**os.environ, **settings.to_env(), "PYSPARK_SUBMIT_ARGS": "--driver-memory 2g pyspark-shell"}
    subprocess.run([sys.executable, str(JOB), *words], env=environ, check=True, stdout=subprocess.DEVNULL)
    told = json.loads((settings.home / "run" / "replays" / f"web-{RELEASE}.json").read_text())
    return {"whole": told["seconds"], "silver": told["sources"][SOURCE]["seconds"]}


def _right(layout: Layout, home: Path, count: int) -> bool:
    """What was planted came out, and every page view of silver is in the views."""
    rows = DeltaTable(layout.silver(RELEASE, SOURCE)).to_pyarrow_table(columns=["disposition"])["disposition"]
    found = {each["values"]: each["counts"] for each in pc.value_counts(rows).to_pylist()}
    wrong, copies = sum(1 for i in range(count) if _named(i) % 100 == 7), sum(1 for i in range(count) if i % 10 == 9)
    expected = {"fact": count - wrong - copies, "rejected": wrong, "duplicate": copies}
    reader = Reader(layout, home=home, fixed={"web": RELEASE})
    reader.refresh()
    views = reader.table(reader.view("web.pageviews"))
    seen = pc.sum(views["views"]).as_py() if isinstance(views, pa.Table) else 0
    return found == expected and seen == expected["fact"] and FIRST_RELEASE != RELEASE


def _named(number: int) -> int:
    return number - (number % 10 == 9)
