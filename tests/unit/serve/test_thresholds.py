"""Thresholds: a bucket of a view that crosses one is told once, by the number that readers see, whoever judges."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from deltalake import DeltaTable
from starlette.testclient import TestClient
from toy_lake import MIDNIGHT, ToyLake, fact
from typer.testing import CliRunner
from unit.serve.test_rules import Told, kept
from unit.serve.test_snapshot import publish, remove

from penstock.lake.releases import READY, Release, say, switch
from penstock.model.domain import domains, forget, rule, view
from penstock.model.rule import Misdeclared, Threshold
from penstock.ops.cli import application
from penstock.serve import declared
from penstock.serve.judging import MOST_BUCKETS, RUN, RUNS, Judge, Judges, check, tried
from penstock.serve.reader import Reader
from penstock.settings import Settings

# Who is told nothing waits for ever.
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def told() -> Told:
    return Told()


class Serving:
    """A process of serve with one threshold: it looks at the tables, then judges. Its clock starts at 00:10."""

    def __init__(self, lake: ToyLake, tell: Told | Callable[..., None], asked: Threshold | None = None) -> None:
        self.now = MIDNIGHT + timedelta(minutes=10)
        self.reader = Reader(lake.layout)
        heard = tell.tell if isinstance(tell, Told) else tell
        self.judge = Judge(self.reader, asked or rule("toy.busy"), heard, lambda: self.now)

    def look(self) -> int:
        self.reader.refresh()
        return self.judge.look()

    def at(self, minutes: float) -> "Serving":
        self.now = MIDNIGHT + timedelta(minutes=minutes)
        return self


def looks(number: int, minutes: float = 10, **said: Any) -> list[dict[str, Any]]:
    return [fact(f"v{nth}", minutes, **said) for nth in range(number)]


def numbers(told: Told) -> list[tuple[str, int, str]]:
    return [(one["rule"], one["happened_at"].hour * 60 + one["happened_at"].minute, one["fact"]) for one in told]


def test_a_bucket_is_told_when_gold_and_speed_together_cross_and_each_fact_counts_once(
    lake: ToyLake, told: Told
) -> None:
    serving = Serving(lake, told)
    lake.epoch(looks(2))
    assert serving.look() == 0
    # What is published is in speed as well until it is removed.
    publish(lake, ["toy.events_by_what"], 0)
    assert serving.look() == 0
    lake.epoch([*looks(1), *looks(2, what="buy")])
    assert serving.look() == 0
    lake.epoch(looks(1))
    assert serving.look() == 1
    assert numbers(told) == [("toy.busy", 10, '{"what":"look","events":4,"who":2.0}')]
    assert [(one["source"], one["offset"], one["event_id"]) for one in told] == [("toy.events_by_what", None, None)]


def test_a_bucket_that_was_told_is_not_told_by_later_epochs_builds_or_starts(lake: ToyLake, told: Told) -> None:
    serving = Serving(lake, told)
    serving.look()
    lake.epoch(looks(5))
    assert serving.look() == 1
    lake.epoch(looks(5))
    assert serving.look() == 0
    assert Serving(lake, told).look() == 0
    publish(lake, ["toy.events_by_what"], 0)
    remove(lake, ["toy.events_by_what"])
    assert (serving.look(), Serving(lake, told).look(), len(told), len(kept(lake))) == (0, 0, 1, 1)


def test_each_key_and_each_bucket_is_told_for_itself(lake: ToyLake, told: Told) -> None:
    serving = Serving(lake, told)
    lake.epoch([*looks(4), *looks(4, what="buy"), *looks(4, 12), *looks(4, 14.9, what=None)])
    assert serving.look() == 3
    lake.epoch(looks(4, 15))
    assert serving.at(15).look() == 1
    assert len({*kept(lake)}) == 4


def test_a_threshold_without_keys_is_over_all_of_the_view(lake: ToyLake, told: Told) -> None:
    serving = Serving(lake, told, replace(rule("toy.busy"), by=(), shows=("bucket", "amount"), where="amount >= 8"))
    lake.epoch([*looks(4), *looks(4, what="buy")])
    assert serving.look() == 1
    assert numbers(told) == [("toy.busy", 10, '{"bucket":"2026-03-02 00:10:00+00","amount":8.0}')]


def test_what_was_before_it_was_armed_is_history(lake: ToyLake, told: Told) -> None:
    lake.epoch([*looks(4, 0), *looks(4, 6)])
    serving = Serving(lake, told)
    assert (serving.look(), numbers(told)[0][1]) == (1, 5)
    lake.epoch(looks(1, 0))
    assert serving.look() == 0


def test_what_came_while_nobody_judged_is_told_afterwards(lake: ToyLake, told: Told) -> None:
    Serving(lake, told).look()
    lake.epoch(looks(4, 20))
    publish(lake, ["toy.events_by_what"], 0)
    remove(lake, ["toy.events_by_what"])
    assert Serving(lake, told).at(300).look() == 0
    late = Serving(lake, told).at(300)
    assert sum(late.look() for _ in range(3)) == 1
    assert kept(lake)[0].startswith("toy.busy/1/2026-03-02T00:20:00Z/")


def test_a_late_fact_that_lifts_an_old_bucket_is_told_within_a_day(lake: ToyLake, told: Told) -> None:
    serving = Serving(lake, told)
    serving.look()
    lake.epoch([*looks(3, 10), *looks(3, 30)])
    assert [serving.at(minutes).look() for minutes in (600, 601, 602, 603)] == [0, 0, 0, 0]
    lake.epoch(looks(1, 30))
    assert (serving.look(), numbers(told)[0][1]) == (1, 30)
    lake.epoch(looks(1, 10))
    assert serving.at(24 * 60 + 20).look() == 0


def test_a_day_that_waits_is_judged_in_bounded_looks_and_the_newest_bucket_first(lake: ToyLake, told: Told) -> None:
    asked = replace(rule("toy.busy"), every="1 minute")
    Serving(lake, told, asked).look()
    lake.epoch([*looks(4, 20), *looks(4, 24 * 60)])
    serving = Serving(lake, told, asked).at(24 * 60)
    assert (serving.look(), numbers(told)[0][1]) == (1, 0)
    number = 1
    while serving.judge.changed():
        serving.look()
        number += 1
    assert (len(told), number <= MOST_BUCKETS / (RUN * RUNS) + 1) == (2, True)


def test_a_switch_and_its_revert_tell_nothing_again_and_what_only_the_other_release_has(
    lake: ToyLake, told: Told
) -> None:
    other = replace(lake, release="r2", epochs=[])
    say(lake.layout, Release("toy", "r2", READY))
    serving = Serving(lake, told)
    lake.epoch(looks(4))
    other.epoch([*looks(4), *looks(4, what="buy")])
    assert serving.look() == 1
    switch(lake.layout, "toy", "r2", "ann", "try it")
    assert serving.look() == 1
    switch(lake.layout, "toy", "r1", "ann", "go back")
    assert (serving.look(), Serving(lake, told).look()) == (0, 0)
    assert [each[2] for each in numbers(told)] == [
        '{"what":"look","events":4,"who":4.0}',
        '{"what":"buy","events":4,"who":4.0}',
    ]


def test_two_that_judge_at_once_keep_each_alert_once(lake: ToyLake, told: Told) -> None:
    second = Serving(lake, told)
    heard: list[int] = []

    def overtaken(_: Sequence[dict[str, Any]]) -> None:
        heard.append(second.look())

    first = Serving(lake, overtaken)
    assert (first.look(), second.look()) == (0, 0)
    lake.epoch([*looks(4), *looks(4, what="buy")])
    assert (first.look(), first.look(), heard) == (0, 0, [2])
    assert len(kept(lake)) == len({*kept(lake)}) == 2


def test_a_crash_between_topic_and_table_tells_twice_and_keeps_once(lake: ToyLake, told: Told) -> None:
    def die(_: Sequence[dict[str, Any]]) -> None:
        raise ConnectionError("killed here")

    lake.epoch(looks(4))
    with pytest.raises(ConnectionError):
        Serving(lake, die).look()
    assert (Serving(lake, told).look(), len(told), len(kept(lake))) == (1, 1, 1)


def test_a_new_version_is_another_threshold_to_its_alerts(lake: ToyLake, told: Told) -> None:
    lake.epoch(looks(4))
    assert [Serving(lake, told, replace(rule("toy.busy"), version=version)).look() for version in (1, 2, 2)] == [
        1,
        1,
        0,
    ]


def test_sessions_that_go_on_are_judged_as_they_are_now(lake: ToyLake, told: Told) -> None:
    asked = Threshold("toy.bounced", view("toy.visits"), "1 hour", "bounces >= 2", shows=("visits", "bounces"))
    serving = Serving(lake, told, asked)
    lake.epoch([fact("ann", 1), fact("bob", 2)])
    lake.epoch([fact("bob", 3)])
    assert serving.look() == 0
    lake.epoch([fact("cy", 4)])
    assert (serving.look(), [one["fact"] for one in told]) == (1, ['{"visits":3,"bounces":2}'])


def test_a_threshold_that_cannot_be_asked_is_named_and_silences_no_other(
    lake: ToyLake, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = (datetime.now(UTC) - MIDNIGHT).total_seconds() / 60
    broken = replace(rule("toy.busy"), name="toy.broken", where="event > 3")
    monkeypatch.setattr("penstock.serve.judging.armed", lambda: [broken, rule("toy.busy")])
    reader = Reader(lake.layout)
    judges = Judges(reader, told.tell)
    lake.epoch(looks(4, now))
    reader.refresh()
    judges.look()
    assert [one["rule"] for one in told] == ["toy.busy"]
    assert "Columns: bucket, what, events" in reader.problems["toy.broken"]


def test_a_number_that_cannot_be_read_is_a_problem_until_it_can(
    lake: ToyLake, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(lake.layout)
    judges = Judges(reader, told.tell)
    with monkeypatch.context() as broken:
        broken.setattr(Reader, "snapshot", lambda *_: 1 / 0)
        judges.look()
    assert "ZeroDivisionError" in reader.problems["toy.busy"]
    monkeypatch.setattr("penstock.serve.judging.monotonic", lambda: float("inf"))
    judges.look()
    assert "toy.busy" not in reader.problems


def test_tried_over_history_it_says_what_would_have_been_told(lake: ToyLake, told: Told) -> None:
    serving = Serving(lake, told)
    serving.look()
    lake.epoch([*looks(4, 10), *looks(4, 10, what="buy"), *looks(3, 20)])
    publish(lake, ["toy.events_by_what"], 0)
    lake.epoch([*looks(1, 20), *looks(4, 1500), *looks(3, 1600)])
    count = [serving.at(minutes).look() for minutes in (30, 31, 1600)]
    until = MIDNIGHT.date() + timedelta(days=1)
    days = tried(serving.reader, rule("toy.busy"), 7, until)
    assert ([(each["day"].day, each["alerts"]) for each in days], sum(count)) == ([(2, 3), (3, 1)], 4)
    assert [each["day"].day for each in tried(serving.reader, rule("toy.busy"), 1, until)] == [3]
    assert tried(serving.reader, rule("toy.busy"), 7, until - timedelta(days=30)) == []


def test_history_is_tried_by_whole_buckets_also_by_those_that_no_day_is_made_of(lake: ToyLake) -> None:
    lake.epoch([*looks(2, 0), *looks(2, 24 * 60)])
    reader = Reader(lake.layout)
    reader.refresh()
    weekly = replace(rule("toy.busy"), every="1 week")
    days = tried(reader, weekly, 9, MIDNIGHT.date() + timedelta(days=7))
    assert [(each["day"], each["alerts"]) for each in days] == [(MIDNIGHT.date(), 1)]


@pytest.mark.parametrize(
    ("view_name", "said", "sentence"),
    [
        ("toy.events_by_what", {"by": ("who",)}, "has no keys who here. There are: what"),
        ("toy.events_by_what", {"shows": ("amont",)}, "has no columns amont here. There are: bucket, what, events"),
        ("toy.events_by_what", {"every": "30 seconds"}, "has buckets of 1 minute, and 30 seconds is not so many"),
        ("toy.events_by_what", {"every": "1 month"}, "Say a width that is made of whole ones, up to weeks"),
        ("toy.events_by_what", {"every": "a while"}, "'a while' is not a bucket"),
        ("toy.now", {"by": ()}, "toy.now has rows by key, not numbers in time buckets. Say a tally"),
    ],
)
def test_a_threshold_that_cannot_be_meant_is_refused(
    lake: ToyLake, view_name: str, said: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        Threshold("toy.wrong", **{"of": view(view_name), "every": "1 hour", "where": "true", "by": ("what",), **said})


@pytest.mark.parametrize(
    "where", ["event > 3", "events >", "version = 1", "amount_p95 > (select max(amount) from silver)"]
)
def test_a_condition_on_what_the_view_does_not_have_is_refused(lake: ToyLake, where: str) -> None:
    with pytest.raises(Misdeclared, match=r"cannot be asked of toy.events_by_what: .*Columns: bucket, what, events"):
        check(replace(rule("toy.busy"), where=where))


def test_a_condition_reaches_no_file(lake: ToyLake) -> None:
    with pytest.raises(Misdeclared, match="disabled by configuration"):
        check(replace(rule("toy.busy"), where="what in (select * from read_text('/etc/passwd'))"))


def test_every_threshold_of_every_domain_is_over_a_view_of_its_own_and_can_be_asked() -> None:
    forget()
    for domain in domains().values():
        for each in (each for each in domain.rules if isinstance(each, Threshold)):
            assert each.of in domain.views
            check(each)


def test_subscribers_and_who_asks_hear_of_a_threshold_as_of_any_rule(lake: ToyLake, client: TestClient) -> None:
    now = (datetime.now(UTC) - MIDNIGHT).total_seconds() / 60
    with client.websocket_connect("/api/live?rule=toy.busy") as socket:
        assert socket.receive_json()["rows"] == []
        # No log is there, and the table tells.
        lake.epoch(looks(4, now))
        pushed = socket.receive_json()["rows"]
    assert [(row["source"], row["fact"]) for row in pushed] == [
        ("toy.events_by_what", {"what": "look", "events": 4, "who": 4})
    ]
    assert client.get("/api/alerts?rule=toy.busy").json()["rows"] == pushed


def test_the_command_line_lists_tries_and_tells_thresholds(
    lake: ToyLake, settings: Settings, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    lake.epoch(looks(4))
    Serving(lake, told).look()
    for words in (["list"], ["try", "toy.busy", "--days", "400"], ["told", "toy.busy"]):
        run = CliRunner().invoke(application(), ["rules", *words])
        assert (run.exit_code, "toy.busy" in run.output) == (0, True), run.output


def test_the_console_is_told_what_a_threshold_asks(lake: ToyLake) -> None:
    large, _, busy = declared.rules("toy")
    told = [(each["source"], each["where"], each["every"], each["by"]) for each in (large, busy)]
    assert told == [("toy.events", "amount > 90", "", []), ("toy.events_by_what", "events > 3", "5 minutes", ["what"])]


def test_the_book_of_alerts_is_one_table_for_facts_and_numbers(lake: ToyLake, told: Told) -> None:
    lake.epoch(looks(4))
    Serving(lake, told).look()
    row = DeltaTable(lake.layout.alerts()).to_pyarrow_table().to_pylist()[0]
    missing = [name for name, value in row.items() if value is None]
    assert (row["day"], missing) == (MIDNIGHT.date(), ["partition", "offset", "event_id"])
