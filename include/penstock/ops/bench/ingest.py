"""A backlog of events of 400 bytes from the log to committed bronze and silver, each once."""

from collections.abc import Iterator

from penstock.ops.bench import Figure
from penstock.ops.rig import Rig, commits, rig


def run(quick: bool) -> Iterator[Figure]:
    count = 300_000 if quick else 10_000_000
    with rig() as place:
        place.produce(count)
        with place.driver():
            place.wait(place.silver, count)
            place.wait(place.bronze, count)
        detail = {
            "events": count,
            "cpu_seconds": round(place.cost.cpu_seconds),
            "peak_gb": round(place.cost.peak_gb, 2),
            "peer": "Flink is not measured: its packages conflict with the lock",
        }
        silver, bronze = rate(place.silver), rate(place.bronze)
        right = once(place, count)
        # The goal for silver is 1.5 times Flink in the same run: without a peer it is not shown.
        yield Figure(
            "ingest", "events a second to silver", silver, goal=">= 1.5x", met=False, gate_ok=right, detail=detail
        )
        yield Figure("ingest", "events a second to bronze beside it", bronze, goal=">= 150000", gate_ok=right)


def rate(table: str) -> float:
    """Events a second between the first commit and the last; the session's start is no part of it."""
    all_commits = [(commit.at, commit.rows.num_rows) for commit in commits(table, "epoch")]
    begun, ended = all_commits[0][0], all_commits[-1][0]
    return float(round(sum(rows for _, rows in all_commits[1:]) / max(ended - begun, 0.001)))


def once(place: Rig, count: int) -> bool:
    """Whether each record is in bronze and in silver exactly once."""
    for table in (place.bronze, place.silver):
        told = [commit.rows.to_pydict() for commit in commits(table, "partition", "offset")]
        positions = [at for rows in told for at in zip(rows["partition"], rows["offset"], strict=True)]
        if not len(positions) == len(set(positions)) == count:
            return False
    return True
