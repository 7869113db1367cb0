"""Counters of one collector, in Prometheus' text format. Adding one costs a dictionary look-up."""

from collections import defaultdict
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

Labels = tuple[tuple[str, str], ...]


class Metrics:
    def __init__(self) -> None:
        self._counts: dict[tuple[str, Labels], int] = defaultdict(int)
        self._gauges: dict[str, Callable[[], float]] = {}

    def add(self, name: str, count: int = 1, **labels: str) -> None:
        self._counts[name, tuple(labels.items())] += count

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        self._gauges[name] = read

    def read(self, name: str) -> int:
        return sum(count for (counter, _), count in self._counts.items() if counter == name)

    def text(self) -> bytes:
        lines: list[str] = []
        for name, doc in HELP.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {doc}", f"# TYPE {name} {kind}"]
            lines += [
                f"{name}{_braces(of)} {count}" for (counter, of), count in self._counts.items() if counter == name
            ]
            if name in self._gauges:
                lines.append(f"{name} {self._gauges[name]():g}")
        return ("\n".join(lines) + "\n").encode()


def _braces(labels: Labels) -> str:
    # Labels are names of our own (sources, reasons), so nothing needs escaping.
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}" if labels else ""
