"""One running stream: a query from the log to a job's table, tended until it is told to stop.

A failure stops this stream only. It is named in the progress file and tried again, for the log may be back, or the
next record may be better than this one; streams beside it do not notice.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.engine.apart import Task
from penstock.engine.checkpoints import Place, book, ends, heal, span
from penstock.engine.epoch import Epoch
from penstock.engine.gaps import gaps, held, identity, refuse, remade
from penstock.engine.lag import Lag, Leaving
from penstock.engine.progress import Progress
from penstock.log import reading
from penstock.model.source import Source

HEARTBEAT_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 60.0
# Below 100 records a second epochs begin so far apart: the fewer, the less of a core, and nobody reads that fast.
FEW_RECORDS, TRICKLE_SECONDS = 200, 2.0
# So many records are worth a task that reads them by itself: docs/decisions/0094.
APART = 20_000

# Of a backlog a task waits for one answer of the log after the other, of 1 MB and 500 records by default: bronze had
# 20,000 records a second so, and 34,000 with these.
FETCH = {
    "kafka.max.partition.fetch.bytes": str(8 << 20),
    "kafka.receive.buffer.bytes": str(1 << 20),
    "kafka.max.poll.records": "5000",
    # Before the last records of a range Spark asks where a partition ends. A broker answers a connection in turn: that
    # waits behind a fetch that waits for more, by default half a second, two to four times before a silence.
    "kafka.fetch.max.wait.ms": "10",
}


class Outdated(Exception):
    """An epoch needs a plan of something that came after the query was planned; nothing of it was committed."""


class Job(Leaving, Protocol):
    """What a stream does with each epoch: archive or shape.

    The plan is analysed once in the life of a query; an epoch gets its rows, as many as its `pace` (options of Spark's
    Kafka source) says. What it leaves to be done beside the next one is checked again and again, and finished at the
    end; until it is `settled` the last epoch may be committed or not, and until it is `shown` readers may not have it.
    """

    @property
    def source(self) -> Source: ...
    @property
    def place(self) -> Place: ...
    @property
    def every(self) -> str: ...
    @property
    def pace(self) -> Mapping[str, str]: ...
    def prepare(self) -> None: ...
    def plan(self, records: DataFrame) -> DataFrame: ...
    def epoch(self, batch: DataFrame, epoch: Epoch) -> Mapping[str, int]: ...
    def check(self) -> None: ...
    def finish(self) -> None: ...


@dataclass
class Stream:
    """A job, its query and what it last said."""

    job: Job
    kafka: str
    home: Path
    progress: Progress
    query: StreamingQuery | None = None
    topic: str = ""
    outdated: bool = False
    failures: int = 0
    retry_at: float = 0.0
    lag: Lag = field(default_factory=Lag)
    looked_at: float = 0.0
    ended: float = 0.0
    _named: threading.Event = field(default_factory=threading.Event)
    _saying: threading.Lock = field(default_factory=threading.Lock)

    def tend(self, spark: SparkSession, now: float) -> None:
        """Starts the query, notices that it failed, or says that it lives."""
        if self.query is None and now >= self.retry_at:
            self._try(spark)
        elif self.query is not None and not self.query.isActive and self.outdated:
            self.query, self.outdated = None, False
            self._try(spark)
        elif self.query is not None and not self.query.isActive:
            error = self.query.exception()
            self._failed(str(error) if error else "the query ended by itself")
        elif self.query is not None and now - self.looked_at >= HEARTBEAT_SECONDS:
            self.looked_at = now
            if self.lag.look(self.query, self.job) and self.lag.records == 0:
                self._works()
            self._say()
            self._check(self.query)

    def stop(self) -> None:
        """Ends the query between two of its steps; an epoch that is cut short is done again at the next start."""
        if self.query is not None:
            self.query.stop()
        self.job.finish()
        self.progress.state = "stopped" if self.progress.state == "running" else self.progress.state
        self._say()

    def _check(self, query: StreamingQuery) -> None:
        try:
            self.job.check()
        except Exception as error:
            query.stop()
            self._failed(f"{type(error).__name__}: {error}")

    def _try(self, spark: SparkSession) -> None:
        try:
            self.job.prepare()
            healed = heal(self.job.place)
            if healed:
                self.progress.sentence = f"rebuilt a checkpoint that was {healed}"
            # A stream that has read nothing yet starts where the log does: that is no gap.
            if written := book(self.job.place.table):
                refuse(gaps(self.kafka, self.job.source.name, ends(self.job.place, written.epoch), written.topic))
                self.progress.epoch = written.epoch
            self.topic = identity(self.kafka, self.job.source.name)
            self.query = self._start(spark)
        except Exception as error:
            self._failed(f"{type(error).__name__}: {error}")

    def _start(self, spark: SparkSession) -> StreamingQuery:
        self._named.clear()
        self.lag.begin()
        options = {
            "kafka.bootstrap.servers": self.kafka,
            "subscribe": self.job.source.name,
            "startingOffsets": "earliest",
            "includeHeaders": "true",
            "failOnDataLoss": "true",
            **FETCH,
            **self.job.pace,
        }
        records = spark.readStream.format("kafka").options(**options).load()
        # A task costs more than its records; two streams and their commits share the cores.
        rows = self.job.plan(records.coalesce(max(1, spark.sparkContext.defaultParallelism // 2)))
        writer = rows.writeStream.queryName(self.job.place.job).option("checkpointLocation", self.job.place.checkpoint)
        query = writer.trigger(processingTime=self.job.every).foreachBatch(self._epoch).start()
        self.progress.query = str(query.id)
        self._named.set()
        return query

    def _epoch(self, batch: DataFrame, number: int) -> None:
        # The first epoch may begin before start() has returned the query's id.
        self._named.wait()
        begun = time.perf_counter()
        epoch = self._begun(number)
        try:
            counts = self.job.epoch(batch, epoch)
        except Outdated:
            self.outdated = True
            raise
        epoch.seconds["epoch"] = round(time.perf_counter() - begun, 4)
        self._succeeded(epoch, counts)
        self._rest(epoch.records, begun)

    def _begun(self, number: int) -> Epoch:
        offsets, name = span(self.job.place, number), self.job.source.name
        # Once an epoch: a topic may be made again, and filled beyond the old offsets, between two of them.
        refuse(remade(self.kafka, name, {part: end for part, (_, end) in offsets.items()}, self.topic))
        count = sum(end - begin for begin, end in offsets.values())
        # What failed goes Spark's way when it is tried again: two readers are not stopped by one record.
        tasks = partial(self._tasks, offsets) if count >= APART and not self.failures else None
        return Epoch(self.progress.query, number, count, self.topic, partial(held, self.kafka, name, offsets), tasks)

    def _tasks(self, offsets: Mapping[int, tuple[int, int]], most: int) -> list[Task]:
        """As many as asked for, and none of so few records that it is not worth one."""
        wanted = min(most, sum(end - begin for begin, end in offsets.values()) // APART)
        return [
            partial(reading.read, self.kafka, self.job.source.name, part) for part in reading.parted(offsets, wanted)
        ]

    def _rest(self, count: int, begun: float) -> None:
        """A trickle must not keep a core busy with epochs of a few records. One that comes alone is not delayed."""
        trickle = count < FEW_RECORDS and begun - self.ended < TRICKLE_SECONDS
        if trickle:
            time.sleep(max(0.0, TRICKLE_SECONDS - (time.perf_counter() - begun)))
        self.ended = time.perf_counter()

    def _succeeded(self, epoch: Epoch, counts: Mapping[str, int]) -> None:
        said, self.failures = self.progress, 0
        self._works()
        said.epoch, said.epochs, said.seconds = epoch.number, said.epochs + 1, epoch.seconds
        said.counts, said.rows = counts, counts.get("rows", 0)
        said.rows_total += said.rows
        self._say()

    def _works(self) -> None:
        """An epoch is done, or the stream has all that there is: after a start nothing may come for days."""
        self.progress.state, self.progress.sentence, self.progress.todo = "running", "", ""

    def _failed(self, why: str) -> None:
        self.query, self.failures = None, self.failures + 1
        pause = min(2.0**self.failures, LONGEST_PAUSE_SECONDS)
        self.retry_at = time.time() + pause
        said = self.progress
        said.state, said.sentence = "failed", cause(why)
        said.todo = (
            f"Tried again in {pause:.0f} s, from where its table ends; records wait safely in the log. If the "
            f"sentence names the code of domain {self.job.source.domain!r}, correct it and start the driver again."
        )
        self._say()

    def _say(self) -> None:
        said, lag = self.progress, self.lag
        # Of who tends it and of Spark's thread, after an epoch.
        with self._saying:
            said.offsets, said.lag_records, said.lag_seconds, said.rests = (
                lag.offsets,
                lag.records,
                lag.seconds,
                lag.rests,
            )
            said.write(self.home)


def cause(error: str) -> str:
    """The line of a long report that says what went wrong: Python's last one, else the first."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    raised = [line for line in lines if "Error:" in line or "Exception:" in line or "Unbalanced:" in line]
    return (raised or lines or ["unknown"])[-1][:500]
