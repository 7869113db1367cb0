"""The console in Chromium over 90 days of built views: when it is painted, how much it weighs, what it keeps in memory.

Painted: the numbers stand there (meaningful), the chart and every list are drawn (all). Live: about an epoch a second
is committed, at any phase of the server's looks and of the page's calm second, and the page draws itself anew for it.
"""

import gc
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import httpx
import psutil
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
FACTS, QUICK_FACTS = 1_000_000, 20_000
OPENED = 5
# Live changes that are timed, and how long after one was seen the next comes at the latest.
CHANGES, QUICK_CHANGES = 40, 20
APART = 1.5
KEPT, QUICK_KEPT = 3600.0, 20.0
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
# The page's own spelling of a number: what is compared is what it was told.
SHOWN = """async (told) => {
  const { number } = await import("/console/format.js");
  const values = [...document.querySelectorAll(".number .value")].map((one) => one.textContent);
  return told.every((value, place) => values[place] === number(value));
}"""
# What a page does whose tab is seen again: all that it shows is asked for.
SEEN_AGAIN = "() => document.dispatchEvent(new Event('visibilitychange'))"
CONSOLES = 300
SHOWS = "(told) => document.querySelector('.here b')?.textContent === told"
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((one) => [new URL(one.name).pathname, one.encodedBodySize])"""


@dataclass(frozen=True)
class Opened:
    """One look at the page, without a cache."""

    numbers: float
    all: float
    kilobytes: float
    ours: float
    right: bool


def run(quick: bool) -> Iterator[Figure]:
    facts = QUICK_FACTS if quick else FACTS
    with rebuild.filled(facts) as (lake, _):
        settings = replace(lake, serve_port=free_port())
        rebuild.build(settings)
        with serving(settings) as server, chromium() as browser:
            address = f"http://127.0.0.1:{settings.serve_port}"
            yield from painted(browser, address, facts)
            yield asked_again(browser, address, server.pid)
            yield from followed(settings, browser, address, quick)


def painted(browser: Any, address: str, facts: int) -> Iterator[Figure]:
    told = numbers(address, rebuild.START, LAST + timedelta(days=1))
    looks = [opened(browser, address + PAGE, told) for _ in range(OPENED)]
    right = all(look.right for look in looks)
    detail = {"facts": facts, "days": rebuild.DAYS, "looks": OPENED}
    for name, goal in (("numbers", 1.0), ("all", 2.0)):
        worst = round(max(getattr(look, name) for look in looks) / 1000, 2)
        yield Figure("console", f"seconds to {name}", worst, goal=f"<= {goal} s", gate_ok=right, detail=detail)
    yield Figure("console", "KB of a page", looks[0].kilobytes, goal="<= 1500 KB", gate_ok=right)
    yield Figure("console", "KB of it ours", looks[0].ours, goal="<= 150 KB", gate_ok=right)


def asked_again(browser: Any, address: str, server: int) -> Figure:
    """How many consoles one core answers when each draws itself anew once a second, as where facts always come.

    Whoever asks first makes the answers; the others, which are counted here, are given those that are held.
    """
    page = browser.new_page()
    page.goto(address + NOW)
    page.wait_for_selector(".report")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    # The lists come last of what is asked at each change.
    with page.expect_response(lambda answer: "order%3D-" in answer.url):
        page.evaluate(SEEN_AGAIN)
    page.wait_for_load_state("networkidle")
    page.close()
    process = psutil.Process(server)
    with httpx.Client() as client:
        right = all(client.get(url).is_success for url in asked)
        before = sum(process.cpu_times()[:2])
        for url in asked * CONSOLES:
            client.get(url)
        spent = (sum(process.cpu_times()[:2]) - before) / CONSOLES
    detail = {"requests": len(asked), "server_cpu_ms": round(spent * 1000, 1)}
    name = "consoles that one core draws anew each second"
    return Figure("console", name, round(1 / spent), goal=">= 1000", gate_ok=right and len(asked) > 0, detail=detail)


def followed(settings: Settings, browser: Any, address: str, quick: bool) -> Iterator[Figure]:
    page = browser.new_page()
    page.goto(address + NOW)
    page.wait_for_selector(".here")
    changes, phases = QUICK_CHANGES if quick else CHANGES, random.Random(1)  # noqa: S311
    late = sorted(live(settings, page, epoch, phases.uniform(0, APART)) for epoch in range(1, changes + 1))
    right = now(page) == changes and agree(page, address)
    detail = {"median": statistics.median(late), "worst": late[-1], "changes": changes}
    p95 = late[int(len(late) * 0.95)]
    yield Figure(
        "console", "seconds from readable to the screen, p95", p95, goal="<= 0.5 s", gate_ok=right, detail=detail
    )
    yield kept(settings, page, address, QUICK_KEPT if quick else KEPT)


def opened(browser: Any, address: str, told: list[int]) -> Opened:
    page = browser.new_context(timezone_id="UTC").new_page()
    page.goto(address, wait_until="commit")
    seen = page.evaluate(PAINTED)
    page.wait_for_selector(".report")
    sizes = {path: size / 1024 for path, size in page.evaluate(WEIGHT)}
    ours = sum(size for path, size in sizes.items() if path == "/" or path.startswith("/console/"))
    right: bool = page.evaluate(SHOWN, told)
    page.context.close()
    return Opened(seen["numbers"], seen["all"], round(sum(sizes.values()), 1), round(ours, 1), right)


def numbers(address: str, start: datetime, end: datetime) -> list[int]:
    """What the read API tells of the page's first two numbers: visitors and views."""
    asked = {"from": start.isoformat(), "to": end.isoformat(), "where": f"site:eq:{SITE}"}
    rows = httpx.get(f"{address}/api/views/{VIEW}", params=asked).json()["rows"]
    return [int(rows[0][measure]) for measure in ("visitors", "views")] if rows else [0, 0]


def visitors(address: str) -> int:
    """Of five minutes, this one among them, as the page asks it."""
    end = datetime.now(UTC) + timedelta(minutes=1)
    return numbers(address, end.replace(second=0, microsecond=0) - timedelta(minutes=5), end)[0]


def now(page: Any) -> int:
    """What the page says of it."""
    return int(page.text_content(".here b"))


def agree(page: Any, address: str) -> bool:
    """Whether the page says what the API tells. A minute that ends without facts is seen half a minute later."""
    until = time.monotonic() + 40
    while now(page) != visitors(address):
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def live(settings: Settings, page: Any, epoch: int, phase: float) -> float:
    """From the moment the read API tells a visitor to the moment the page does."""
    address = f"http://127.0.0.1:{settings.serve_port}"
    time.sleep(phase)
    commit(settings, epoch)
    until = time.monotonic() + 30
    while visitors(address) < epoch and time.monotonic() < until:
        time.sleep(0.01)
    readable = time.monotonic()
    # Looked at with each frame; a selector is looked for twice a second.
    page.wait_for_function(SHOWS, arg=str(epoch))
    return round(time.monotonic() - readable, 2)


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


def kept(settings: Settings, page: Any, address: str, seconds: float) -> Figure:
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
    right = agree(page, address)
    return Figure("console", "times the memory it had", grown, goal="<= 1.2", gate_ok=right, detail=detail)


def heap(page: Any) -> float:
    """Megabytes that the page's scripts hold, once what is not needed is gone."""
    gc.collect()
    tools = page.context.new_cdp_session(page)
    tools.send("HeapProfiler.collectGarbage")
    used: float = tools.send("Runtime.getHeapUsage")["usedSize"]
    tools.detach()
    return round(used / 2**20, 2)
