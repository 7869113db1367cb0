"""Reports over a lake of a few hand-made events: each definition of docs/metrics.md at its edges."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from factories.web_lake import WebLake

from domains.web.charts import PAGE
from penstock.lake.layout import Layout
from penstock.lake.sketches import theta_sketch
from penstock.serve.reports import KINDS
from penstock.serve.reports.asking import Asking, Found
from penstock.serve.reports.kept import Reports
from penstock.serve.reports.people import merged
from penstock.serve.reports.retention import cohorts
from penstock.serve.reports.unusual import unlike
from penstock.serve.reports.uplift import uplift

SITE = "harbour.example"
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
REPORTS = {report.name: report for report in PAGE.reports}


@pytest.fixture
def lake(tmp_path: Path) -> WebLake:
    asked = {name for report in REPORTS.values() for name in (report.view, report.other)} | {"web.sessions"}
    return WebLake(Layout(str(tmp_path / "lake")), only=tuple(asked))


def event(visitor: str = "ann", minutes: float = 0, page: str = "/", **fields: Any) -> dict[str, Any]:
    """A page view so many minutes after a Monday's midnight."""
    at = MONDAY + timedelta(minutes=minutes)
    said = {"type": "pageview", "site": SITE, "visitor": visitor, "url": f"https://{SITE}{page}", "happened_at": at}
    return {**said, "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", **fields}


def booked(visitor: str = "ann", minutes: float = 0) -> dict[str, Any]:
    return event(visitor, minutes, type="event", name="booking")


def found(lake: WebLake, name: str, days: int = 7, now: datetime | None = None, **said: str) -> Found:
    to = MONDAY + timedelta(days=days)
    given = {"from": MONDAY.isoformat(), "to": to.isoformat(), **said}
    report = REPORTS[name]
    return KINDS[report.kind](Asking(lake.reader(), report.view, list(given.items()), now or to), report)


def test_a_funnel_counts_steps_in_their_order_only(lake: WebLake) -> None:
    lake.tell([event(page="/boats/sloop"), event(minutes=1, page="/book"), booked(minutes=2)])
    lake.tell([event("bob", 0, "/book"), event("bob", 1, "/boats"), booked("bob", 2)])
    assert [row["count"] for row in found(lake, "funnel").rows] == [2, 2, 1, 1]


def test_a_step_that_is_told_late_brings_its_session_further(lake: WebLake) -> None:
    lake.tell([event(page="/boats"), booked(minutes=50)])
    assert [row["count"] for row in found(lake, "funnel").rows] == [2, 1, 0, 0]
    lake.tell([event(minutes=25, page="/book")])
    assert [row["count"] for row in found(lake, "funnel").rows] == [1, 1, 1, 1]


def test_the_share_of_a_step_is_of_all_and_of_the_step_before(lake: WebLake) -> None:
    lake.tell([event("a"), event("b", page="/boats"), event("c", page="/boats"), event("c", 1, "/book"), event("d")])
    assert [(row["of_all"], row["of_before"]) for row in found(lake, "funnel").rows] == [
        (1, None), (0.5, 0.5), (0.25, 0.5), (0, 0),
    ]  # fmt: skip


def test_a_goals_conversion_is_its_visitors_among_all(lake: WebLake) -> None:
    lake.tell([event(name) for name in "abcd"] + [booked("a", 1), booked("a", 2)])
    assert found(lake, "goals").rows == [{"goal": "booking", "events": 2, "visitors": 1.0, "conversion": 0.25}]


WEEK = 7 * 24 * 60


def test_visitors_belong_to_the_week_of_their_first_visit(lake: WebLake) -> None:
    lake.tell([event("old", -60 * 24 * 100), event("old"), event("ann"), event("bob"), event("ann", WEEK + 5)])
    rows = {row["week"]: row for row in found(lake, "retention", days=14).rows}
    assert rows["2026-03-02"] == {"week": "2026-03-02", "visitors": 2, "kept": [1.0, 0.5]}
    assert rows["2026-03-09"]["visitors"] == 0


def test_a_week_begins_on_the_readers_own_monday(lake: WebLake) -> None:
    lake.tell([event("ann", -30)])
    weeks = {tz: [row["week"] for row in found(lake, "retention", tz=tz).rows if row["visitors"]] for tz in TZ}
    assert weeks == {"UTC": ["2026-02-23"], "Europe/Stockholm": ["2026-03-02"]}


TZ = ("UTC", "Europe/Stockholm")


def test_cohorts_of_sets_are_those_of_their_members() -> None:
    weeks = [theta_sketch(list(names)) for names in ("ab", "bc", "ac")]
    days = [(MONDAY + timedelta(weeks=number)).date() for number in range(3)]
    told = [(row["visitors"], row["kept"]) for row in cohorts(days, weeks, theta_sketch(["z"]))]
    assert told == [(2, [1.0, 0.5, 0.5]), (1, [1.0, 1.0]), (0, [None])]


def test_ids_of_one_person_count_once_also_in_chains(lake: WebLake) -> None:
    lake.tell([event("phone"), event("laptop"), event("other")])
    assert found(lake, "people").rows == [{"people": 3, "visitors": 3, "merged": 0}]
    lake.tell([{"a": a, "b": "u1", "happened_at": MONDAY} for a in ("phone", "laptop")], "web.identities")
    assert found(lake, "people").rows == [{"people": 2, "visitors": 3, "merged": 1}]


def plans(lake: WebLake) -> dict[str, int]:
    return {row["plan"]: row["views"] for row in found(lake, "plan").rows}


def changed(minutes: float, **profile: str) -> dict[str, Any]:
    return {"user": "u1", "happened_at": MONDAY + timedelta(minutes=minutes), **profile}


def test_a_view_has_the_plan_that_the_user_had_then(lake: WebLake) -> None:
    lake.tell([event(minutes=minutes, user="u1") for minutes in (0, 10, 20)] + [event("bob", 5)])
    assert plans(lake) == {"(not said)": 3}
    lake.tell([changed(10, plan="free"), changed(15, region="Hamburg")], "web.users")
    assert plans(lake) == {"(not said)": 1, "free": 2}
    lake.tell([changed(18, plan="captain")], "web.users")
    assert plans(lake) == {"(not said)": 1, "free": 1, "captain": 1}


def test_it_does_not_matter_in_which_order_sameness_is_said() -> None:
    pairs = [("a", "b"), ("c", "d"), ("b", "c"), ("e", "e")]
    assert merged("abcdef", pairs) == merged("abcdef", [(b, a) for a, b in reversed(pairs)]) == 3


def test_an_uplift_has_the_interval_of_the_textbook() -> None:
    # By hand: ln(0.2 / 0.15) = 0.287682, give or take 1.96 * sqrt(1/150 + 1/200 - 2/1000) = 0.192703.
    told = uplift({"visitors": 1000, "converted": 150}, {"visitors": 1000, "converted": 200})
    assert (round(told["uplift"], 4), round(told["low"], 4), round(told["high"], 4)) == (0.3333, 0.0996, 0.6167)
    assert told["sure"]


@pytest.mark.parametrize("converted", [(0, 5), (5, 0)])
def test_no_interval_is_made_up_where_nobody_converted(converted: tuple[int, int]) -> None:
    control, variant = ({"visitors": 10, "converted": each} for each in converted)
    assert uplift(control, variant)["uplift"] is None


def test_each_experiment_is_compared_with_its_own_first_variant(lake: WebLake) -> None:
    told = [
        {**make(f"{name}{variant}{n}"), "experiment": name, "variant": variant}
        for name in ("x", "y") for variant in "ab" for n in range(4)
        for make in ([event, booked] if n < (2 if variant == "a" else 3) else [event])
    ]  # fmt: skip
    lake.tell(told)
    rows = found(lake, "experiments").rows
    assert [(row["experiment"], row["variant"], row.get("uplift")) for row in rows] == [
        ("x", "a", None), ("x", "b", 0.5), ("y", "a", None), ("y", "b", 0.5),
    ]  # fmt: skip


STEADY: Callable[[datetime], float] = lambda at: 100 + at.hour  # noqa: E731


def series(zone: ZoneInfo, weeks: int, changed: dict[datetime, float]) -> dict[datetime, float]:
    start = MONDAY - timedelta(weeks=weeks)
    hours = [start + timedelta(hours=number) for number in range((weeks + 1) * 168)]
    return {at: changed.get(at, STEADY(at.astimezone(zone))) for at in hours}


@pytest.mark.parametrize("value", [0, 200])
def test_an_hour_unlike_its_past_is_unusual(value: float) -> None:
    odd = MONDAY + timedelta(days=2, hours=9)
    rows = unlike(series(ZoneInfo("UTC"), 8, {odd: value}), MONDAY, MONDAY + timedelta(days=7), ZoneInfo("UTC"))
    assert [(row["hour"], row["value"], row["usual"]) for row in rows if row["hour"] < MONDAY + timedelta(days=6)] == [
        (odd, value, 109)
    ]


def test_two_weeks_are_too_few_to_say_what_is_usual() -> None:
    odd = MONDAY + timedelta(hours=9)
    seen = series(ZoneInfo("UTC"), 2, {odd: 900})
    assert unlike(seen, MONDAY, MONDAY + timedelta(days=2), ZoneInfo("UTC")) == []


def test_summer_time_does_not_make_hours_unusual() -> None:
    zone, spring = ZoneInfo("Europe/Stockholm"), datetime(2026, 3, 30, tzinfo=UTC)
    rhythm = {
        at: 1000.0 if at.astimezone(zone).hour == 20 else 100.0
        for at in (spring - timedelta(weeks=8) + timedelta(hours=number) for number in range(9 * 168))
    }
    assert unlike(rhythm, spring, spring + timedelta(days=6), zone) == []
    assert unlike(rhythm, spring, spring + timedelta(days=6), ZoneInfo("UTC")) != []


def test_who_asks_the_same_in_the_same_moment_gets_the_same(lake: WebLake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.tell([event()])
    reader = lake.reader()
    kept, said = Reports(reader, KINDS), [("from", MONDAY.isoformat()), ("to", (MONDAY + timedelta(1)).isoformat())]
    first = kept.document(REPORTS["funnel"], said, [])
    lake.tell([event("bob")])
    reader.refresh()
    assert kept.document(REPORTS["funnel"], said, []) is first
    monkeypatch.setattr("penstock.serve.reports.kept.SECONDS", -1.0)
    assert kept.document(REPORTS["funnel"], said, [])["rows"][0]["count"] == 2
