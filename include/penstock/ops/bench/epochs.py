"""Whether the ten-thousandth epoch is as quick as the hundredth: files are compacted and logs shortened beside them."""

import statistics
import time
from collections.abc import Iterator

from penstock.engine.progress import read
from penstock.ops.bench import Figure
from penstock.ops.rig import TOPIC, Rig, rig

# Above a trickle, after whose epochs a stream rests, and far below what it can do.
RATE = 500.0
# The hundredth epoch, and as many before it as after it; so many at the end.
EARLY, WINDOW = 100, 20


def run(quick: bool) -> Iterator[Figure]:
    wanted = 200 if quick else 10_000
    with rig() as place, place.sending(RATE), place.driver():
        seconds = watched(place, wanted)
    early = [told for epoch, told in seconds.items() if abs(epoch - EARLY) <= WINDOW]
    late = [told for epoch, told in seconds.items() if epoch > wanted - 2 * WINDOW]
    detail = {"epochs": wanted, "driver_gb": round(place.cost.peak_gb, 2), "cpu_seconds": round(place.cost.cpu_seconds)}
    first, last = (round(statistics.median(told), 3) for told in (early, late))
    yield Figure("epochs", "seconds of an epoch at the end", last, first, goal="<= 1.2x", detail=detail)


def watched(place: Rig, wanted: int) -> dict[int, float]:
    """The seconds of each epoch that the shape told of, until it has done so many."""
    seconds: dict[int, float] = {}
    while max(seconds, default=0) < wanted:
        time.sleep(0.1)
        for told in read(place.settings.home):
            if told["job"] == f"shape-{TOPIC}" and told["seconds"]:
                seconds[told["epoch"]] = told["seconds"]["epoch"]
            if told["state"] == "failed":
                raise RuntimeError(told["sentence"])
    return seconds
