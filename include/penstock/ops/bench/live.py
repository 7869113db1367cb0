"""1,000 subscribers of one view: how long after an epoch's commit the last of them has the changed rows.

The server has one core to itself; the subscribers and the epochs have the other.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import httpx
import psutil
from websockets.asyncio.client import ClientConnection, connect

from penstock.lake.layout import Layout
from penstock.model.domain import view
from penstock.model.view import Tally
from penstock.ops.bench import Figure
from penstock.ops.bench.serve import EPOCHS, RANGE, TAIL, VIEW, epoch, fill, first_answer
from penstock.ops.rig import serving
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

SUBSCRIBERS = 1_000
# They come by so many at a time.
ARRIVING = 50
PUSHES, QUICK_PUSHES = 60, 8
A_DAY = 100
QUESTION = urlencode({**RANGE, "every": "1 day"})
# What the first epochs after so many arrivals show is the arrivals.
WARM = 2


def run(quick: bool) -> Iterator[Figure]:
    epochs = QUICK_PUSHES if quick else PUSHES
    with tempfile.TemporaryDirectory(prefix="penstock-") as home:
        settings = Settings(home=Path(home), lake=f"{home}/lake", kafka="127.0.0.1:1", serve_port=free_port())
        tally, layout = view(VIEW), Layout(settings.lake)
        assert isinstance(tally, Tally)
        fill(layout, tally, A_DAY)
        with serving(settings) as server:
            first_answer(f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}")
            # Threads that it has started by now would stay where they are: all of them move.
            for thread in psutil.Process(server.pid).threads():
                os.sched_setaffinity(thread.id, {0})
            ages, complete, views = asyncio.run(_followed(settings, layout, tally, epochs))
            shown = httpx.get(f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}", params=RANGE, timeout=30)
            right = complete and views == shown.json()["rows"][0]["views"]
    ages = sorted(ages)
    middle, late = (round(ages[int(len(ages) * rank)] * 1000) for rank in (0.5, 0.99))
    detail = {"subscribers": SUBSCRIBERS, "pushes": len(ages), "p50_ms": middle, "server_cores": 1}
    yield Figure("live", "ms from commit to subscriber, p99", late, goal="<= 500 ms", gate_ok=right, detail=detail)


async def _followed(settings: Settings, layout: Layout, tally: Tally, epochs: int) -> tuple[list[float], bool, int]:
    """Every age of a push; whether all subscribers heard of every epoch's end; the views that a subscriber counts."""
    address = f"ws://127.0.0.1:{settings.serve_port}/api/live?view={VIEW}&{QUESTION}"
    sockets: list[ClientConnection] = []
    for _ in range(SUBSCRIBERS // ARRIVING):
        sockets += await asyncio.gather(*(connect(address, compression=None, open_timeout=60) for _ in range(ARRIVING)))
    last = EPOCHS + epochs
    committed: dict[int, float] = {}
    with ThreadPoolExecutor(1) as writer:
        listening = [asyncio.create_task(_listen(socket, last)) for socket in sockets]
        for number in range(EPOCHS + 1, last + 1):
            await asyncio.get_running_loop().run_in_executor(writer, epoch, layout, tally, number)
            committed[number] = time.perf_counter()
            await asyncio.sleep(1)
        done, late = await asyncio.wait(listening, timeout=20)
    for task in late:
        task.cancel()
    await asyncio.gather(*(socket.close() for socket in sockets))
    # A push may be quicker than the word that its commit is done: that is no time at all.
    ages = [max(0.0, at - committed[number]) for task in done for number, at in task.result()]
    return ages, not late, A_DAY * 90 + last * TAIL


async def _listen(socket: ClientConnection, last: int) -> list[tuple[int, float]]:
    """When this subscriber first had each epoch; ends with the last one."""
    heard, seen = [], EPOCHS
    while seen < last:
        message = str(await socket.recv())
        arrived = time.perf_counter()
        # Parsing a thousand documents a second would be the bench's own cost.
        begins = message.index('"epoch":') + len('"epoch":')
        number = int(message[begins : message.index(",", begins)])
        if number > seen and number > EPOCHS + WARM:
            heard.append((number, arrived))
        seen = max(seen, number)
    return heard
