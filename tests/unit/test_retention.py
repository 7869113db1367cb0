"""Which facts may be given a number of days, and why others must stay."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from penstock.model import domain, retention
from penstock.model.domain import Domain
from penstock.model.measures import count, distinct, last
from penstock.model.retention import BadRetention, hindrance, reach, retentions
from penstock.model.source import Facts
from penstock.model.view import Latest, PerKey, Sessions, Tally, View


@pytest.fixture
def only(toy: Domain, monkeypatch: pytest.MonkeyPatch) -> Domain:
    """The toy with one view, which names nobody."""
    views = [Tally("toy.counted", Facts(toy.sources[0]), by=("what",), measures={"people": distinct("who")})]
    monkeypatch.setattr(retention, "views_of", lambda source: views)
    return replace(toy, views=tuple(views))


@pytest.mark.parametrize(
    ("text", "days"),
    [("", []), ("silver/toy.events=400", [400]), ("silver/toy=31", [31])],
    ids=["for ever", "a source", "a domain"],
)
def test_a_setting_names_sources_and_days(only: Domain, text: str, days: list[int]) -> None:
    assert [(one.source.name, one.days) for one in retentions(text)] == [("toy.events", each) for each in days]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("silver/toy.events", "'silver/toy.events' is no silver/SOURCE=DAYS"),
        ("gold/toy.events=400", "'gold/toy.events=400' is no silver/SOURCE=DAYS"),
        ("silver/toy.events=30", "'silver/toy.events=30' keeps 30 days. Facts may come a month late: keep 31 or more"),
        ("silver/toy.clicks=400", "there is no source or domain 'toy.clicks'"),
        ("silver/toy=400 silver/toy.events=90", "toy.events is named twice"),
        ("silver/web.users=400", "facts of web.users must stay: web.views_by_profile asks for all that was ever said"),
    ],
)
def test_a_setting_that_cannot_be_followed_is_refused(only: Domain, text: str, why: str) -> None:
    with pytest.raises(BadRetention) as refusal:
        retentions(text)
    assert f"PENSTOCK_RETENTION: {why}" in str(refusal.value)
    assert "Example: silver/web.events=400" in str(refusal.value)


COUNTED = {"n": count()}
ViewOf = Callable[[Facts], View]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda of: Latest("toy.v", of, ("what",), ("amount",)), "toy.v has the last of all of them for each key"),
        (lambda of: Tally("toy.v", of, ("what",), COUNTED, at="received_at"), "toy.v is by the day of received_at"),
        (lambda of: Tally("toy.v", of, ("what",), {"last": last("who")}), "toy.v keeps who, and of rollups"),
        (lambda of: PerKey("toy.v", of, ("what",), {"who": "string"}, list), "toy.v keeps who, and of rollups"),
    ],
    ids=["the last of all", "by another day", "a name among measures", "a name among columns"],
)
def test_facts_stay_that_a_view_needs_or_that_would_leave_people_behind(
    toy: Domain, made: ViewOf, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = made(Facts(toy.sources[0]))
    monkeypatch.setattr(retention, "views_of", lambda source: [view])
    assert hindrance(toy.sources[0]).startswith(why)


@pytest.mark.parametrize(
    "made",
    [lambda of: Tally("toy.v", of, ("who",), COUNTED), lambda of: Sessions("toy.v", of, ("who",), COUNTED)],
    ids=["a tally", "sessions"],
)
def test_facts_may_go_of_which_rows_are_found_by_whom_they_name(
    toy: Domain, made: ViewOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = made(Facts(toy.sources[0]))
    monkeypatch.setattr(retention, "views_of", lambda source: [view])
    assert hindrance(toy.sources[0]) == ""


def test_page_views_may_go() -> None:
    assert hindrance(domain.source("web.events")) == ""


def test_the_nights_before_are_kept_that_sessions_and_horizons_need(
    toy: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = Facts(toy.sources[0])
    views = [Sessions("toy.s", facts, ("what",), {}), PerKey("toy.p", facts, ("what",), {}, list, horizon=3)]
    monkeypatch.setattr(retention, "views_of", lambda source: views)
    assert reach(toy.sources[0]) == 3
