"""What a minute's look makes of what the streams say."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.engine.progress import FOLDER, Progress
from penstock.model.group import groups
from penstock.ops.alerts.desk import Desk
from penstock.ops.watch.finding import Finding, tell
from penstock.ops.watch.streams import FIRST_SECONDS, SILENT_SECONDS, judged, streams

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def said(seconds_ago: float = 1, **more: Any) -> dict[str, Any]:
    """A stream that is well, but for `more`."""
    well = {"job": "shape-toy.events", "state": "running", "sentence": "", "todo": "", "epoch": 7, "rows": 1000}
    at = (NOW - timedelta(seconds=seconds_ago)).isoformat()
    return {**well, "lag_records": 0, "lag_seconds": 0.0, "seconds": {"epoch": 0.5}, "counts": {}, "at": at, **more}


@pytest.mark.parametrize(
    ("progress", "found"),
    [
        (said(), []),
        (said(60), [("stream_stalled", "critical")]),
        (said(60, state="stopped"), [("stream_stalled", "critical")]),
        (said(10, state="stopped"), []),
        (said(state="failed", sentence="bad", todo="mend"), [("stream_failed", "critical")]),
        (said(lag_seconds=90.0), [("stream_lags", "warning")]),
        (said(lag_seconds=900.0), [("stream_lags", "critical")]),
        (said(seconds={"epoch": 20.0}, lag_records=9), [("slow_epochs", "warning")]),
        (said(seconds={"epoch": 20.0}), []),
    ],
    ids=["well", "silent", "stopped long", "shift", "failed", "behind", "far behind", "slow", "resting"],
)
def test_a_stream_is_judged(progress: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.severity) for one in judged(progress, NOW)] == found


def test_a_fresh_home_has_three_minutes(tmp_path: Path) -> None:
    assert list(streams(tmp_path, groups(""), NOW)) == []
    began = datetime.fromtimestamp((tmp_path / "run" / "first_look.streams").stat().st_mtime, UTC)
    late = list(streams(tmp_path, groups(""), began + timedelta(seconds=FIRST_SECONDS + 1)))
    assert [one.kind for one in late] == ["stream_stalled"]


def test_a_group_that_never_reports_is_missed_beside_one_that_does(tmp_path: Path) -> None:
    Progress("shape-web.users", "r1").write(tmp_path)
    later = datetime.now(UTC) + timedelta(seconds=SILENT_SECONDS - 5)
    hosts = groups("clicks=web.events people=web.users,web.identities")
    list(streams(tmp_path, hosts, later))
    os.utime(tmp_path / "run" / "first_look.streams_clicks", times=(0, 0))
    assert [one.what for one in streams(tmp_path, hosts, later)] == ["streams_clicks"]


def test_who_stalls_names_the_dag_that_starts_it() -> None:
    (finding,) = judged(said(60, group="streams_clicks"), NOW)
    assert "The `streams_clicks` DAG" in finding.text


def test_every_stream_that_reports_is_judged(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    for job in ("a", "b"):
        (tmp_path / FOLDER / f"{job}.json").write_text(json.dumps(said(600, job=job)))
    assert [one.what for one in streams(tmp_path, [], NOW)] == ["a", "b"]


def test_a_finding_that_is_gone_closes_its_alert_and_no_other(tmp_path: Path) -> None:
    wall: list[str] = []
    desk = Desk(tmp_path, lambda severity, title, body: not wall.append(title), lambda: 0.0)
    both = [Finding("stream_stalled", job, "critical", "It stands.") for job in ("a", "b")]
    tell(desk, both, "/runbooks", "watch.")
    tell(desk, both[1:], "/runbooks", "watch.")
    assert wall[2:] == ["[recovered] a: stream stalled"]
