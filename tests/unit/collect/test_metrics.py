"""What a collector counted, as Prometheus reads it."""

import pytest

from penstock.collect.metrics import Metrics


def test_counts_are_told_by_name_and_labels() -> None:
    metrics = Metrics()
    metrics.counter("penstock_requests_total", "status")[("202",)] += 2
    metrics.add("penstock_requests_total", status="429")
    metrics.add("penstock_spool_damaged_total")
    lines = metrics.text().decode().splitlines()
    assert {
        'penstock_requests_total{status="202"} 2',
        'penstock_requests_total{status="429"} 1',
        "penstock_spool_damaged_total 1",
    } <= set(lines)


def test_nobody_counts_by_other_labels_than_those_before() -> None:
    metrics = Metrics()
    metrics.add("penstock_accepted_total", source="web.events", kept="log")
    with pytest.raises(AssertionError, match="is counted by"):
        metrics.add("penstock_accepted_total", kept="log", source="web.events")
