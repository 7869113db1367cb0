"""From an event sent to the event readable in silver, at 1,000 a second, with bronze and speed tables written too."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from penstock.ops.bench import Figure
from penstock.ops.rig import Rig, commits, rig

RATE = 1000.0
# Until the JVM has compiled what an epoch runs.
WARM_SECONDS = 20


def run(quick: bool) -> Iterator[Figure]:
    seconds = 25 if quick else 120
    with rig() as place:
        with place.driver():
            # The first epochs load classes and start Python workers; they are no part of a steady state.
            place.produce(1000)
            place.wait(place.silver, 1000)
            place.produce(int(RATE * (WARM_SECONDS + seconds)), RATE)
            sent = 1000 + int(RATE * (WARM_SECONDS + seconds))
            place.wait(place.silver, sent)
        steady = ages(place)[int(1000 + RATE * WARM_SECONDS) :]
        detail = {"driver_gb": round(place.cost.peak_gb, 2), "cpu_seconds": round(place.cost.cpu_seconds)}
        for name, share, goal in (("p50", 50, "<= 1.0 s"), ("p99", 99, "<= 2.0 s")):
            figure = round(float(np.percentile(steady, share)), 3)
            right = len(steady) == int(RATE * seconds)
            yield Figure("freshness", f"seconds to silver, {name}", figure, goal=goal, gate_ok=right, detail=detail)


def ages(place: Rig) -> npt.NDArray[np.float64]:
    """How old each row was when its commit could be read, in the order of arrival."""
    told = [
        (received.timestamp(), commit.at - received.timestamp())
        for commit in commits(place.silver, "received_at")
        for received in commit.rows["received_at"].to_pylist()
    ]
    return np.array([age for _, age in sorted(told)])
