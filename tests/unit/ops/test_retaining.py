"""What `PENSTOCK_RETENTION` takes is told before, done by the night, and in the audit afterwards."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from toy_lake import Passed
from web_lake import WebLake

from penstock.engine.build import Batch
from penstock.lake import audit, exact
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.retention import ANNOUNCED, EMPTIED, KEPT, Expiry, expiries, note
from penstock.model.domain import Domain, source, views_of
from penstock.model.retention import BadRetention, Retention
from penstock.ops.airflow import upkeep
from penstock.ops.retaining import plans, retained
from penstock.serve.files import Files
from penstock.serve.records import latest
from penstock.settings import Settings

EVENTS = "web.events"
DAYS = 400
NIGHT = datetime(2027, 4, 8, 3, tzinfo=UTC)
MOMENTS = ("2026-03-02T10:00:00Z", "2026-03-02T10:10:00Z", "2026-03-03T10:00:00Z", "2026-03-04T10:00:00Z")


@pytest.fixture
def web(settings: Settings) -> WebLake:
    """Page views of three days, built and compared with all others."""
    lake = WebLake(Layout(settings.lake))
    lake.tell(
        {"type": "pageview", "visitor": "v7", "site": "a.example", "url": "https://a.example/", "props": {"a": "b"},
         "happened_at": moment}
        for moment in MOMENTS
    )  # fmt: skip
    Batch(None, lake.layout, FIRST_RELEASE, lambda rows, name: Passed()).build(views_of(source(EVENTS)))  # type: ignore[arg-type]
    exact.note(lake.layout, FIRST_RELEASE, EVENTS, 0)
    return lake


def seen(lake: WebLake) -> list[list[dict[str, Any]]]:
    return [lake.rows(view) for view in ("web.pageviews", "web.visits", "web.sessions")]


def listed(lake: WebLake) -> list[str]:
    """The days of the facts that people are shown, newest first."""
    rows = latest(lake.layout, Files(), FIRST_RELEASE, source(EVENTS), "fact", 10)
    return [str(row["happened_at"].date()) for row in rows]


def test_facts_of_the_web_expire_by_nights_and_its_numbers_stay(web: WebLake, settings: Settings) -> None:
    asked, before = replace(settings, retention=f"silver/{EVENTS}={DAYS}"), seen(web)
    (plan,) = plans(asked, NIGHT)
    told = [retained(settings, Retention(source(EVENTS), DAYS), [], NIGHT + timedelta(hours=late)) for late in (0, 24)]
    (after,) = plans(asked, NIGHT + timedelta(days=1))
    assert (plan.days, plan.rows, str(plan.until), plan.rollups_kept_until) == (1, 2, "2026-03-02", None)
    assert told == [
        "web.events: days up to 2026-03-03 are announced, whose facts are rejected from 03:10 on",
        "web.events: rollups of days up to 2026-03-03 are kept as they are; silver is emptied up to 2026-03-02; "
        "days up to 2026-03-04 are announced, whose facts are rejected from 03:10 on",
    ]
    assert (after.rows, str(after.until), str(after.rollups_kept_until)) == (1, "2026-03-03", "2026-03-03")
    assert (seen(web), listed(web)) == (before, ["2026-03-04", "2026-03-03"])
    steps = [(entry.after["step"], entry.after["up to"]) for entry in reversed(audit.entries(web.layout, EVENTS))]
    assert steps == [
        ("announced", "2026-03-03"), ("kept", "2026-03-03"), ("emptied", "2026-03-02"), ("announced", "2026-03-04"),
    ]  # fmt: skip


def test_the_steps_of_a_night_that_was_killed_are_in_the_audit_after_the_next(web: WebLake, settings: Settings) -> None:
    noted = Expiry(EVENTS, FIRST_RELEASE, ANNOUNCED, NIGHT.date() - timedelta(days=DAYS + 1), NIGHT, NIGHT)
    note(web.layout, noted)
    retained(settings, Retention(source(EVENTS), DAYS), [], NIGHT + timedelta(hours=24))
    steps = {entry.after["step"] for entry in audit.entries(web.layout, EVENTS)}
    assert steps == {each.step for each in expiries(web.layout, FIRST_RELEASE, EVENTS)} == {ANNOUNCED, KEPT, EMPTIED}


def test_facts_that_must_stay_in_the_current_release_are_refused(toy: Domain, settings: Settings) -> None:
    with pytest.raises(BadRetention, match=r"facts of toy\.events must stay in r1: toy\.everything keeps who"):
        retained(settings, Retention(toy.sources[0], DAYS), [], NIGHT)


def test_a_night_without_the_setting_asks_nothing_of_the_log(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    assert upkeep.expire() == []
