"""How far a stream is behind the log, and since when it is not level with it: answers are complete up to then."""

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pyspark.sql.streaming.listener import SourceProgress
from pyspark.sql.streaming.query import StreamingQuery

# A query that rests has asked the log for more within this time.
ASKED_SECONDS = 2.0


class Leaving(Protocol):
    """A job that may leave work to be done beside its next epoch: a commit, or what readers see of one."""

    def settled(self) -> bool: ...
    def shown(self) -> bool: ...


@dataclass
class Lag:
    """As of the last look; nothing is known before the first."""

    records: int | None = None
    offsets: Mapping[str, int] = field(default_factory=dict)
    # When the log had nothing that readers have not.
    level_at: float = field(default_factory=time.time)

    def look(self, query: StreamingQuery, job: Leaving) -> None:
        """Asks the query where it is, and the job whether it has done all that the query takes for done."""
        now, last, rests = time.time(), query.lastProgress, _rests(query)
        # Asked after it: Spark tells of an epoch when its job has left it, so what is settled by now has it too.
        taken = "endOffset" if job.settled() else "startOffset"
        ends, latest = (_offsets(last.sources[0], name) for name in (taken, "latestOffset")) if last else ({}, {})
        if not (last and ends and latest):
            return
        self.offsets, self.records = ends, sum(latest.values()) - sum(ends.values())
        if self.records == 0 and job.shown():
            # An epoch has all that came before it asked the log; nothing came since where none was needed.
            asked = datetime.fromisoformat(last.timestamp).timestamp()
            self.level_at = max(self.level_at, asked, now - ASKED_SECONDS if rests else 0.0)

    @property
    def seconds(self) -> float | None:
        """Since it was level, up to the tenth: nobody says too much who takes them from now."""
        return None if self.records is None else math.ceil((time.time() - self.level_at) * 10) / 10


def _rests(query: StreamingQuery) -> bool:
    """Whether it found nothing when it last asked."""
    status = query.status
    return not (status["isTriggerActive"] or status["isDataAvailable"])


def _offsets(source: SourceProgress, name: str) -> dict[str, int]:
    """Offsets by partition; a query that has not begun has none."""
    topics = json.loads(getattr(source, name) or "{}") or {}
    return next(iter(topics.values()), {})
