"""Prometheus sees how the streams are, and is told of one that stands still."""

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from penstock.engine.progress import Progress
from penstock.serve.certificate import streams
from penstock.serve.metrics import Metrics
from penstock.serve.reader import Reader

LABELS = "stream", "release", "stage", "state"
ALERTS = Path(__file__).parents[3] / "deploy/prometheus/alerts.yaml"


def scraped(home: Path, reader: Reader) -> dict[str, dict[tuple[str, ...], float]]:
    """What Prometheus has of the streams: by name, then by the labels' values."""
    metrics = Metrics()
    metrics.refreshed(reader, 0, streams(home))
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(generate_latest(metrics.registry).decode()):
        for sample in family.samples:
            labels = tuple(sample.labels[name] for name in LABELS if name in sample.labels)
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_a_stream_tells_its_epoch_lag_rows_and_time_by_stage(tmp_path: Path, reader: Reader) -> None:
    told: dict[str, Any] = {"epoch": 41, "lag_records": 7, "lag_seconds": 1.5, "rows_total": 900}
    Progress("shape-toy.events", "r2", "running", seconds={"epoch": 0.8, "silver": 0.2}, **told).write(tmp_path)
    Progress("archive-toy.events", None).write(tmp_path)
    found, shape, archive = scraped(tmp_path, reader), ("shape-toy.events", "r2"), ("archive-toy.events", "r1")
    assert {name: found[f"penstock_stream_{name}"][shape] for name in told} == told
    assert found["penstock_stream_seconds"] == {(*shape, "epoch"): 0.8, (*shape, "silver"): 0.2}
    assert found["penstock_stream_state"] == {(*shape, "running"): 1.0, (*archive, "starting"): 1.0}
    assert archive not in found["penstock_stream_lag_records"]


def test_a_stream_that_nobody_wants_any_more_is_gone(tmp_path: Path, reader: Reader) -> None:
    said = Progress("shape-toy.events", "r1")
    said.write(tmp_path)
    assert "penstock_stream_epoch" in scraped(tmp_path, reader)
    said.forget(tmp_path)
    assert "penstock_stream_epoch" not in scraped(tmp_path, reader)


@pytest.mark.parametrize(("seconds", "stalled"), [(5, False), (60, True)], ids=["speaks", "is silent"])
def test_the_alert_of_a_stalled_stream_fires_when_it_is_silent(
    tmp_path: Path, reader: Reader, seconds: int, stalled: bool
) -> None:
    metrics, now = Metrics(), datetime.now(UTC)
    said = {"job": "shape-toy.events", "release": "r1", "at": (now - timedelta(seconds=seconds)).isoformat()}
    metrics.refreshed(reader, 0, [said])
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    (rule,) = (rule["expr"] for rule in group["rules"] if rule.get("alert") == "StreamStalled")
    name, limit = re.fullmatch(r"time\(\) - (\w+) > (\d+)", rule).groups()  # type: ignore[union-attr]
    last = metrics.registry.get_sample_value(name, {"stream": "shape-toy.events", "release": "r1"})
    assert last is not None and (time.time() - last > int(limit)) is stalled
