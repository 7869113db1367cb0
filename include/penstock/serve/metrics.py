"""What Prometheus reads of the read side."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from penstock.serve.reader import Reader

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10)


class Metrics:
    """One registry of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "penstock_serve_query_seconds", "Time to answer", ["view"], buckets=BUCKETS, registry=self.registry
        )
        self._problems = Gauge("penstock_serve_problems", "Views that cannot be read", registry=self.registry)
        self._subscribers = Gauge("penstock_serve_subscribers", "Live subscribers", registry=self.registry)
        self._refreshes = Counter("penstock_serve_refreshes", "Looks at the lake", registry=self.registry)

    def answered(self, view: str, seconds: float) -> None:
        self._seconds.labels(view).observe(seconds)

    def refreshed(self, reader: Reader, subscribers: int) -> None:
        self._problems.set(len(reader.problems))
        self._subscribers.set(subscribers)
        self._refreshes.inc()
