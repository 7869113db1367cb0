"""From an event sent to the event readable in silver, and in an answer of serve, at 1,000 a second.

Bronze and the speed tables of all web views are written too. A dashboard asks how many page views there are, again and
again: an event is in an answer when that counts the epoch which the event came in. Then the same while all that came is
replayed into another release, and at last a few events a second.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event

import httpx
import numpy as np
import numpy.typing as npt

from penstock.ops.bench import Figure
from penstock.ops.load.jobs import took
from penstock.ops.load.meanwhile import meanwhile
from penstock.ops.rig import Rig, commits, rig, serving
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

RATE = 1000.0
# Streams rest between epochs of so little.
FEW = 2.0
# Until the JVM has compiled what an epoch runs.
WARM_SECONDS = 20
GOALS = {"silver": ("<= 1.0 s", "<= 2.0 s"), "an answer": ("<= 1.2 s", "<= 2.5 s")}
# A dashboard that asks more often would take the cores from the work.
ASKED_SECONDS = 0.1
# As its form in Airflow asks for it: one core of the machine, and what the live streams leave of that.
REPLAY = ("--domain=web", "--cores=1", "--operation=bench/1", "--who=bench", "--why=bench")
Ages = npt.NDArray[np.float64]


def run(quick: bool) -> Iterator[Figure]:
    seconds = 25 if quick else 120
    with rig() as place:
        settings = replace(place.settings, serve_port=free_port())
        with place.driver(), serving(settings), asked(settings) as answers:
            # The first epochs load classes and start Python workers; they are no part of a steady state.
            place.produce(1000)
            place.wait(place.silver, 1000)
            place.produce(int(RATE * (WARM_SECONDS + seconds)), RATE)
            alone = place.sent
            driver = {"driver_gb": round(place.cost.peak_gb, 2), "cpu_seconds": round(place.cost.cpu_seconds)}
            with place.sending(RATE):
                replay = took(settings, "replay", *REPLAY)
            place.wait(place.silver, place.sent)
            beside = place.sent
            place.produce(int(FEW * seconds), FEW)
            place.wait(place.silver, place.sent)
            answers.wait(place.sent)
        first = int(1000 + RATE * WARM_SECONDS)
        for where, told in zip(GOALS, ages(place, answers), strict=True):
            right = len(told) == place.sent
            for share, goal in zip((50, 99), GOALS[where], strict=True):
                figure = percentile(told[first:alone], share)
                yield Figure(
                    "freshness", f"seconds to {where}, p{share}", figure, goal=goal, gate_ok=right, detail=driver
                )
            ordinary, replayed, few = (
                percentile(some, 99) for some in (told[first:alone], told[alone:beside], told[beside:])
            )
            words, detail = f"seconds to {where}, p99, beside a replay", {"replay": replay.detail}
            yield Figure("freshness", words, replayed, peer=ordinary, goal="<= 2x", gate_ok=right, detail=detail)
            yield Figure("freshness", f"seconds to {where}, p99, at {FEW:.0f} events a second", few, gate_ok=right)


def percentile(told: Ages | Sequence[float], share: int) -> float:
    return round(float(np.percentile(told, share)), 3)


@dataclass
class Answers:
    """When an answer first counted so many page views."""

    seen: list[tuple[float, int]] = field(default_factory=list)

    @property
    def views(self) -> int:
        return self.seen[-1][1] if self.seen else 0

    def wait(self, count: int, patience: float = 60) -> None:
        limit = time.time() + patience
        while self.views < count:
            if time.time() > limit:
                raise TimeoutError(f"an answer counts {self.views:,} page views of {count:,}")
            time.sleep(0.1)

    def first(self, count: int) -> float:
        return next(at for at, views in self.seen if views >= count)


@contextmanager
def asked(settings: Settings) -> Iterator[Answers]:
    """Asks until the block ends."""
    answers = Answers()
    with meanwhile(partial(_ask, settings, answers)):
        yield answers


def _ask(settings: Settings, answers: Answers, over: Event) -> None:
    now = datetime.now(UTC)
    question = {"from": (now - timedelta(days=1)).isoformat(), "to": (now + timedelta(days=1)).isoformat()}
    with httpx.Client(base_url=f"http://127.0.0.1:{settings.serve_port}", params=question, timeout=60) as client:
        while not over.wait(ASKED_SECONDS):
            told = client.get("/api/views/web.pageviews")
            # Before the first epoch there is no such table.
            rows = told.json().get("rows") or [{}]
            views = rows[0].get("views") or 0
            if views > answers.views:
                answers.seen.append((time.time(), views))


def ages(place: Rig, answers: Answers) -> tuple[Ages, Ages]:
    """How old each event was when its commit could be read, and when an answer had it, in the order of arrival."""
    told: list[tuple[float, float, float]] = []
    for commit in commits(place.silver, "received_at"):
        sent = [received.timestamp() for received in commit.rows["received_at"].to_pylist()]
        at = answers.first(len(told) + len(sent))
        told += [(one, commit.at - one, at - one) for one in sent]
    _, silver, answer = np.array(sorted(told)).T
    return silver, answer
