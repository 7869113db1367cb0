"""The collector's producer against Kafka's own producer-performance tool: same settings, same records, same broker.

They take turns, and the best turn of each counts: a turn that the machine's other work disturbed says nothing.
"""

import asyncio
from collections.abc import Iterator

from penstock.ops.bench import Figure
from penstock.ops.bench.collector import ONE
from penstock.ops.load.producing import ours, theirs
from penstock.ops.rig import TOPIC, rig

TURNS = 3


def run(quick: bool) -> Iterator[Figure]:
    count = 500_000 if quick else 2_000_000
    mine: list[float] = []
    peers: list[float] = []
    with rig() as place:
        kafka = place.settings.kafka
        for _ in range(TURNS):
            mine.append(asyncio.run(ours(kafka, TOPIC, ONE, count)))
            peers.append(theirs(kafka, TOPIC, ONE, count, place.settings.home))
    yield Figure(
        "log",
        f"records/s of {len(ONE)} bytes on the log with acks=all, against Kafka's producer-performance",
        round(max(mine)),
        peer=round(max(peers)),
        goal=">= 0.9x",
        detail={"records a turn": count, "ours": [*map(round, mine)], "theirs": [*map(round, peers)]},
    )
