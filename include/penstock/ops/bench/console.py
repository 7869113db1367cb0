"""The console in Chromium over 90 days of built views: when it is painted, how much it weighs, what it keeps in memory.

Painted: the numbers stand there (meaningful), the chart and every list are drawn (all). Live: an epoch a second is
committed, and the page draws itself anew for it.
"""

import gc
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import httpx
import pyarrow as pa
from deltalake import write_deltalake

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.local import Local
from penstock.model.domain import view
from penstock.ops.bench import Figure, rebuild
from penstock.ops.load.browser import chromium
from penstock.ops.rig import serving
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

VIEW, SITE = "web.pageviews", "s1"
OPENED = 5
LAST = rebuild.START + timedelta(days=rebuild.DAYS - 1)
PAGE = f"/?scope={SITE}&range={rebuild.START.date()}..{LAST.date()}"
NOW = f"/?scope={SITE}&range=live"
# When what a person came for is there, by the page's own clock.
PAINTED = """() => new Promise((done) => {
  const seen = {};
  const look = () => {
    if (!seen.numbers && document.querySelectorAll(".number .value").length) seen.numbers = performance.now();
    const drawn = document.querySelector(".chart svg") && document.querySelectorAll(".lists .panel").length;
    if (seen.numbers && drawn) { seen.all = performance.now(); done(seen); } else requestAnimationFrame(look);
  };
  look();
})"""
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((one) => [new URL(one.name).pathname, one.encodedBodySize])"""


@dataclass(frozen=True)
class Opened:
    """One look at the page, without a cache."""

    numbers: float
    all: float
    kilobytes: float
    ours: float


def run(quick: bool) -> Iterator[Figure]:
    facts = 20_000 if quick else 1_000_000
    with rebuild.filled(facts) as (lake, _):
        settings = replace(lake, serve_port=free_port())
        rebuild.build(settings)
        with serving(settings), chromium() as browser:
            address = f"http://127.0.0.1:{settings.serve_port}"
            yield from figures(settings, browser, address, facts, 20 if quick else 3600)


def figures(settings: Settings, browser: Any, address: str, facts: int, seconds: float) -> Iterator[Figure]:
    looks = [opened(browser, address + PAGE) for _ in range(OPENED)]
    detail = {"facts": facts, "days": rebuild.DAYS, "looks": OPENED}
    for name, goal in (("numbers", 1.0), ("all", 2.0)):
        worst = round(max(getattr(look, name) for look in looks) / 1000, 2)
        yield Figure("console", f"seconds to {name}", worst, goal=f"<= {goal} s", detail=detail)
    yield Figure("console", "KB of a page", looks[0].kilobytes, goal="<= 1500 KB")
    yield Figure("console", "KB of it ours", looks[0].ours, goal="<= 150 KB")
    page = browser.new_page()
    page.goto(address + NOW)
    page.wait_for_selector(".here")
    late = sorted(live(settings, page, epoch) for epoch in range(1, 11))
    median = round(statistics.median(late), 2)
    yield Figure("console", "seconds from readable to the screen", median, goal="<= 0.5 s", detail={"worst": late[-1]})
    yield kept(settings, page, seconds)


def opened(browser: Any, address: str) -> Opened:
    page = browser.new_context().new_page()
    page.goto(address, wait_until="commit")
    seen = page.evaluate(PAINTED)
    page.wait_for_selector(".report")
    sizes = {path: size / 1024 for path, size in page.evaluate(WEIGHT)}
    ours = sum(size for path, size in sizes.items() if path == "/" or path.startswith("/console/"))
    page.context.close()
    return Opened(seen["numbers"], seen["all"], round(sum(sizes.values()), 1), round(ours, 1))


def live(settings: Settings, page: Any, epoch: int) -> float:
    """From the moment the read API tells a visitor to the moment the page does."""
    commit(settings, epoch)
    address = f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}"
    asked = {"from": (datetime.now(UTC) - timedelta(minutes=4)).isoformat(), "where": f"site:eq:{SITE}"}
    until = time.monotonic() + 30
    while time.monotonic() < until:
        rows = httpx.get(address, params=asked).json()["rows"]
        if rows and rows[0]["visitors"] >= epoch:
            break
    readable = time.monotonic()
    page.wait_for_selector(f".here b:text-is('{epoch}')")
    # The page is calm for a second after it drew itself.
    time.sleep(1.2)
    return round(time.monotonic() - readable - 1.2, 2)


def commit(settings: Settings, epoch: int) -> None:
    """One visitor more, as an epoch's partials."""
    with duckdb.connect(":memory:") as engine:
        engine.execute("set TimeZone = 'UTC'")
        facts = engine.sql(
            "select 'pageview' as type, false as bot, $site as site, '/p1' as page, 'now' || $epoch as visitor, "
            "now()::timestamptz as happened_at",
            params={"site": SITE, "epoch": epoch},
        ).to_arrow_table()
    rows = Local(facts).partials(view(VIEW))
    stamped = rows.append_column("epoch", pa.array([epoch] * rows.num_rows, pa.int64()))
    write_deltalake(Layout(settings.lake).speed(FIRST_RELEASE, VIEW), stamped, mode="append")


def kept(settings: Settings, page: Any, seconds: float) -> Figure:
    """The page's heap after so long with a live update each second, against the heap at half time: the half hour that
    the page shows has to fill first."""
    until, epoch, heaps = time.monotonic() + seconds, 100, [heap(page)]
    while time.monotonic() < until:
        commit(settings, epoch := epoch + 1)
        time.sleep(1)
        if epoch % 10 == 0:
            heaps.append(heap(page))
    grown = round(heaps[-1] / heaps[len(heaps) // 2], 2)
    detail = {"seconds": seconds, "megabytes": heaps[:: max(1, len(heaps) // 12)]}
    return Figure("console", "times the memory it had", grown, goal="<= 1.2", detail=detail)


def heap(page: Any) -> float:
    """Megabytes that the page's scripts hold, once what is not needed is gone."""
    gc.collect()
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.collectGarbage")
    used: float = tools.send("Runtime.getHeapUsage")["usedSize"]
    tools.detach()
    return round(used / 2**20, 2)
