"""What Prometheus reads of the read side."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.lake.layout import FIRST_RELEASE
from penstock.serve.reader import Reader

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10)
STREAM = ("stream", "release")


class Streams(Collector):
    """What the streams last said of themselves: one that is no longer wanted is gone from here as well."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def collect(self) -> Iterator[Metric]:
        numbers = {
            "epoch": "Last epoch that a stream committed",
            "lag_records": "Records that the log has and a stream has not taken",
            "lag_seconds": "Seconds since a stream had all that the log has",
        }
        for name, about in numbers.items():
            yield _gauge(name, about, {_stream(one): one.get(name) for one in self.said})
        rows = CounterMetricFamily(
            "penstock_stream_rows", "Rows that a stream committed since it started", labels=STREAM
        )
        for one in self.said:
            rows.add_metric(_stream(one), one.get("rows_total", 0))
        yield rows
        seconds = {(*_stream(one), stage): took for one in self.said for stage, took in one.get("seconds", {}).items()}
        yield _gauge("seconds", "Time that the last epoch took, by stage", seconds, (*STREAM, "stage"))
        states = {(*_stream(one), str(one.get("state"))): 1.0 for one in self.said}
        yield _gauge("state", "1 for what a stream is: starting, running, failed, stopped", states, (*STREAM, "state"))
        words = {_stream(one): datetime.fromisoformat(one["at"]).timestamp() for one in self.said if one.get("at")}
        yield _gauge("said_at_seconds", "When a stream last said how it is, as Unix time", words)


def _stream(said: Mapping[str, Any]) -> tuple[str, ...]:
    return said["job"], said.get("release") or FIRST_RELEASE


def _gauge(
    name: str, about: str, values: Mapping[tuple[str, ...], float | None], labels: tuple[str, ...] = STREAM
) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"penstock_stream_{name}", about, labels=labels)
    for labelled, value in values.items():
        # Nothing where the stream has not measured it yet: zero would be a claim.
        if value is not None:
            gauge.add_metric(labelled, value)
    return gauge


class Metrics:
    """One registry of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "penstock_serve_query_seconds", "Time to answer", ["view"], buckets=BUCKETS, registry=self.registry
        )
        self._problems = Gauge("penstock_serve_problems", "Views that cannot be read", registry=self.registry)
        self._subscribers = Gauge("penstock_serve_subscribers", "Live subscribers", registry=self.registry)
        self._streams = Streams()
        self.registry.register(self._streams)
        self._refreshes = Counter("penstock_serve_refreshes", "Looks at the lake", registry=self.registry)

    def answered(self, view: str, seconds: float) -> None:
        self._seconds.labels(view).observe(seconds)

    def refreshed(self, reader: Reader, subscribers: int, streams: list[dict[str, Any]]) -> None:
        self._streams.said = streams
        self._problems.set(len(reader.problems))
        self._subscribers.set(subscribers)
        self._refreshes.inc()
