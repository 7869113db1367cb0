"""Counters of one collector, in Prometheus' text format. Adding one costs a dictionary look-up."""

from collections import Counter
from collections.abc import Callable

HELP = {
    "penstock_accepted_total": "Events acknowledged, by source and by where they are safe (log or spool).",
    "penstock_refused_total": "Events and requests refused, by reason.",
    "penstock_requests_total": "Requests answered, by status.",
    "penstock_drained_total": "Events brought from the spool to the log.",
    "penstock_spool_bytes": "Bytes in the spool that the log does not have yet.",
    "penstock_spool_damaged_total": "Spool frames that could not be read again; their segment is kept aside.",
    "penstock_subscribers": "Open subscriptions.",
}


class Metrics:
    def __init__(self) -> None:
        self._counters: dict[str, tuple[tuple[str, ...], Counter[tuple[str, ...]]]] = {}
        self._gauges: dict[str, Callable[[], float]] = {}

    def counter(self, name: str, *labels: str) -> Counter[tuple[str, ...]]:
        """Counts by the values of these labels, for whoever counts with each request."""
        known, counts = self._counters.setdefault(name, (labels, Counter()))
        assert known == labels, f"{name} is counted by {known}"
        return counts

    def add(self, name: str, count: int = 1, **labels: str) -> None:
        self.counter(name, *labels)[tuple(labels.values())] += count

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        self._gauges[name] = read

    def text(self) -> bytes:
        lines: list[str] = []
        for name, doc in HELP.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {doc}", f"# TYPE {name} {kind}"]
            labels, counts = self._counters.get(name, ((), {}))
            lines += [f"{name}{_braces(labels, values)} {count}" for values, count in counts.items()]
            if name in self._gauges:
                lines.append(f"{name} {self._gauges[name]():g}")
        return ("\n".join(lines) + "\n").encode()


def _braces(labels: tuple[str, ...], values: tuple[str, ...]) -> str:
    # Labels are names of our own (sources, reasons), so nothing needs escaping.
    told = ",".join(f'{name}="{value}"' for name, value in zip(labels, values, strict=True))
    return f"{{{told}}}" if told else ""
