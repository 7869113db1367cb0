# ruff: noqa: S608 - columns of this module
"""A backlog of events of 400 bytes from the log to committed bronze and silver, each once.

The peer is Apache Flink: when ours has stopped, it takes the same topic to Parquet, parsed alike and exactly once
(ops/load/flink.sql). A rate is rows a second between the first commit and the last, so that no start is in it.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import duckdb
from deltalake import DeltaTable

from penstock.ops.bench import Figure
from penstock.ops.load import flink
from penstock.ops.rig import ARCHIVES, TOPIC, Cost, Rig, commits, measured, rig

# What both say of a record; times as instants, because the files name their zone differently.
SAID = (
    *("event_id", "reason", "type", "site", "visitor", "url", "referrer", "title", "language", "screen", "load_ms"),
    *("host", "page", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"),
    *("epoch_us(happened_at)", "epoch_us(received_at)", "epoch_us(logged_at)"),
)
POSITION = 'partition::bigint * 1000000000000 + "offset"'


class Peer(NamedTuple):
    rate: float | None
    right: bool
    detail: dict[str, Any]


def run(quick: bool) -> Iterator[Figure]:
    yield from ingested(int(os.environ.get("PENSTOCK_BENCH_FACTS", "300000" if quick else "10000000")))


def ingested(count: int) -> Iterator[Figure]:
    with rig() as place:
        place.produce(count)
        with place.driver():
            place.wait(place.silver, count)
            place.wait(place.bronze, count)
        right = once(files(place.silver), count) and once(files(place.bronze), count)
        alone = archived(place, count)
        peer = beside(place, count)
        yield Figure(
            "ingest",
            "events a second to silver",
            rate(landed(place.silver)),
            peer=peer.rate,
            goal=">= 1.5x",
            # Without a peer the goal is not shown to be reached.
            met=None if peer.rate else False,
            gate_ok=right and peer.right,
            detail={"events": count, **used(place.cost), **peer.detail},
        )
        bronze = rate(landed(place.bronze))
        yield Figure("ingest", "events a second to bronze beside it", bronze, goal=">= 150000", gate_ok=right)
        yield alone


def archived(place: Rig, count: int) -> Figure:
    """The same topic to the bronze of a lake of its own, by a driver that has nothing else to do."""
    home = place.settings.home / "raw"
    home.mkdir()
    raw = Rig(replace(place.settings, home=home, lake=str(home / "lake")))
    with raw.driver(job=ARCHIVES):
        raw.wait(raw.bronze, count)
    return Figure(
        "ingest",
        "events a second to bronze alone",
        rate(landed(raw.bronze)),
        goal=">= 150000",
        gate_ok=once(files(raw.bronze), count),
        detail=used(raw.cost),
    )


def beside(place: Rig, count: int) -> Peer:
    """Flink's copy of the topic: right when it has each record once, and says of each what silver says."""
    if not flink.version():
        return Peer(None, True, {"peer": flink.ABSENT})
    home, cost = place.settings.home, Cost()
    with flink.jvm(home) as gateway, measured(gateway.java_process.pid, cost):
        flink.copy(gateway, place.settings.kafka, TOPIC, home)
    theirs = [str(file) for file in flink.files(home)]
    right = once(theirs, count) and said(theirs) == said(files(place.silver))
    told = {f"peer_{name}": number for name, number in used(cost).items()}
    return Peer(rate(flink.commits(home)), right, {"peer": f"Flink {flink.version()}", **told})


def used(cost: Cost) -> dict[str, float]:
    return {"cpu_seconds": round(cost.cpu_seconds), "peak_gb": round(cost.peak_gb, 2)}


def landed(table: str) -> Iterator[tuple[float, int]]:
    """When rows of a table could be read, and how many."""
    return ((commit.at, commit.rows.num_rows) for commit in commits(table, "epoch"))


def rate(commits: Iterable[tuple[float, int]]) -> float:
    """Rows a second between the first commit and the last."""
    (begun, _), *later = sorted(commits)
    ended = max((at for at, _ in later), default=begun)
    return float(round(sum(rows for _, rows in later) / max(ended - begun, 0.001)))


def files(table: str) -> list[str]:
    return [uri.removeprefix("file://") for uri in DeltaTable(table).file_uris()]


def once(parquet: Sequence[str], count: int) -> bool:
    """Whether each record is in the files exactly once."""
    return _asked(f"count(*), count(distinct {POSITION})", parquet) == (count, count)


def said(parquet: Sequence[str]) -> tuple[Any, ...]:
    """One number for what all rows say, in whatever order they are."""
    return _asked(f"bit_xor(hash({POSITION}, {', '.join(SAID)}))", parquet)


def _asked(numbers: str, parquet: Sequence[str]) -> tuple[Any, ...]:
    with duckdb.connect(":memory:", config={"memory_limit": "4GB"}) as engine:
        told = engine.execute(f"select {numbers} from read_parquet(?, hive_partitioning = false)", [[*parquet]])
        return told.fetchall()[0]
