"""How far a stream is behind the log, and when it was last level with it: answers are complete to then."""

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
    """As of the last look at a query. `level_at`: when the log had nothing that readers have not, if ever."""

    level_at: float | None = None
    records: int | None = None
    offsets: Mapping[str, int] = field(default_factory=dict)
    # Whether nothing is on its way to readers.
    rests: bool = False
    # An epoch that took all there was, and when it asked; readers may not have it yet.
    _taken: tuple[int, float] | None = None

    def begin(self) -> None:
        """For a new query: it has said nothing yet, whatever the one before it said."""
        self.records, self.offsets, self.rests, self._taken = None, {}, False, None

    def look(self, query: StreamingQuery, job: Leaving) -> bool:
        """Asks the query where it is, and the job what it has still to do. False: the query has said nothing yet."""
        now, last, idle = time.time(), query.lastProgress, _idle(query)
        # Asked after it: Spark tells of an epoch when its job has left it, so what is settled by now has it too.
        taken = "endOffset" if job.settled() else "startOffset"
        ends, latest = (_offsets(last.sources[0], name) for name in (taken, "latestOffset")) if last else ({}, {})
        if not (last and ends and latest):
            return False
        self.offsets, self.records = ends, sum(latest.values()) - sum(ends.values())
        shown = job.shown()
        self.rests = idle and shown and self.records == 0
        if self.records == 0 and self._taken is None:
            self._taken = last.batchId, datetime.fromisoformat(last.timestamp).timestamp()
        # What an epoch left is done before the next but one is.
        if self._taken and (shown or last.batchId > self._taken[0] + 1):
            self._level(self._taken[1])
            self._taken = None
        if self.rests:
            self._level(now - ASKED_SECONDS)
        return True

    def _level(self, at: float) -> None:
        self.level_at = max(self.level_at or 0.0, at)

    @property
    def seconds(self) -> float | None:
        """Since it was level, up to the tenth: nobody says too much who takes them from now."""
        return None if self.level_at is None else math.ceil((time.time() - self.level_at) * 10) / 10


def _idle(query: StreamingQuery) -> bool:
    """Whether it found nothing when it last asked."""
    status = query.status
    return not (status["isTriggerActive"] or status["isDataAvailable"])


def _offsets(source: SourceProgress, name: str) -> dict[str, int]:
    """Offsets by partition; a query that has not begun has none."""
    topics = json.loads(getattr(source, name) or "{}") or {}
    return next(iter(topics.values()), {})
