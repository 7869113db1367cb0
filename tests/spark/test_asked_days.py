"""Days that cannot be built are refused with a sentence, before a session is opened."""

import runpy
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from penstock.lake.layout import Layout
from penstock.lake.retention import KEPT, Expiry, note
from penstock.settings import Settings

JOB = Path(__file__).parents[2] / "spark_jobs" / "build_views.py"
FIRST = date(2026, 11, 9)
TOMORROW = datetime.now(UTC).date() + timedelta(days=1)


@pytest.fixture
def job(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The job's functions, over a silver of two days; whatever it is asked to build succeeds."""
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    days = pa.table({"day": [FIRST, FIRST + timedelta(days=1)], "offset": [0, 1]})
    write_deltalake(Layout(settings.lake).silver("r1", "web.events"), days, partition_by=["day"])
    functions = runpy.run_path(str(JOB))
    monkeypatch.setitem(functions["main"].__globals__, "build", lambda *_: 0)
    return functions


@pytest.mark.parametrize(
    ("first", "last", "scheduled", "status"),
    [
        ("2026-11-01", "2026-11-08", "no", 2),
        ("2026-11-08", "", "no", 2),
        ("2026-11-08", "2026-11-09", "no", 0),
        ("2026-11-10", "2026-11-10", "no", 0),
        ("2026-11-08", "2026-11-08", "yes", 0),
        ("", "", "no", 0),
    ],
    ids=["before the first", "one day before", "partly before", "a day", "the first night", "no days"],
)
def test_days_before_the_first_record_are_refused(
    job: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    first: str, last: str, scheduled: str, status: int,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.argv", ["build_views", f"--from={first}", f"--to={last}", f"--scheduled={scheduled}"])
    assert job["main"]() == status
    assert (f"silver has no records before {FIRST}" in capsys.readouterr().err) == (status == 2)


def test_days_whose_facts_have_expired_are_refused(
    job: dict[str, Any], settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = datetime.now(UTC)
    note(Layout(settings.lake), Expiry("web.events", "r1", KEPT, FIRST, now, now))
    monkeypatch.setattr("sys.argv", ["build_views", f"--from={FIRST}"])
    assert job["main"]() == 2
    assert f"facts of web.events up to {FIRST} have expired: what was counted of them stays" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "last", "sentence"),
    [
        ("2026-11-10", "2026-11-09", "give the earlier day first"),
        ("", "2026-11-09", "give the earlier day first"),
        ("2026-11-09", str(TOMORROW), f"{TOMORROW} is in the future"),
        (str(TOMORROW), "", f"{TOMORROW} is in the future"),
    ],
    ids=["reversed", "no beginning", "into the future", "a day of the future"],
)
def test_dates_that_are_no_past_range_are_refused(
    job: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    first: str, last: str, sentence: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.argv", ["build_views", f"--from={first}", f"--to={last}"])
    with pytest.raises(SystemExit) as ended:
        job["arguments"]()
    assert (ended.value.code, sentence in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize("view", ["web.visits", "web.sessions", "web.same_person", "web.nothing"])
def test_a_view_that_is_made_of_others_or_needs_other_days_is_not_built_alone(
    job: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], view: str
) -> None:
    monkeypatch.setattr("sys.argv", ["build_views", f"--view={view}"])
    with pytest.raises(SystemExit):
        job["main"]()
    said = capsys.readouterr().err
    assert f"invalid choice: '{view}'" in said
    assert "web.pageviews" in said


def test_a_tally_of_facts_may_be_built_alone(job: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["build_views", "--view=web.pageviews", "--view=web.devices"])
    assert job["arguments"]().views == ["web.pageviews", "web.devices"]
