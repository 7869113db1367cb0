"""Rules: what matches is told once, from the epochs as they are committed, whatever crashes in between."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from starlette.testclient import TestClient
from toy_lake import MIDNIGHT, ToyLake, fact, silver_rows
from typer.testing import CliRunner

from penstock.engine import silver
from penstock.engine.alarm import Alarm
from penstock.lake import alerts
from penstock.lake.releases import READY, Release, say, switch
from penstock.model.domain import domains, forget, rule
from penstock.model.rule import Rule
from penstock.model.source import Source
from penstock.ops.cli import application
from penstock.settings import Settings


class Told(list[dict[str, Any]]):
    """What subscribers of the topic have heard."""

    def tell(self, alerts: Sequence[dict[str, Any]]) -> None:
        self.extend(alerts)


@pytest.fixture
def told() -> Told:
    return Told()


def alarm(lake: ToyLake, told: Told) -> Alarm:
    return Alarm(lake.layout, lake.domain.sources[0], told.tell)


def no_facts(source: Source) -> pa.Table:
    kinds = {"bigint": pa.int64(), "double": pa.float64(), "boolean": pa.bool_()}
    fields = {field.name: kinds.get(field.type, pa.string()) for field in source.fields}
    return pa.schema([*silver.BEFORE_FACTS.items(), *fields.items()]).empty_table()


def kept(lake: ToyLake) -> list[str]:
    return sorted(DeltaTable(lake.layout.alerts()).to_pyarrow_table()["id"].to_pylist())


def test_a_fact_that_matches_an_armed_rule_is_told_and_kept(lake: ToyLake, told: Told) -> None:
    lake.epoch([fact("ann", amount=3), fact("bob", amount=99), fact("cy", amount=None)])
    assert alarm(lake, told).look() == 1
    assert [(one["rule"], one["offset"], one["fact"]) for one in told] == [
        ("toy.large", 1, '{"who":"bob","amount":99}')
    ]
    assert kept(lake) == ["toy.large/1/0/1"]


def test_an_epoch_is_told_once_though_it_is_looked_at_again(lake: ToyLake, told: Told) -> None:
    lake.epoch([fact(amount=99)])
    following = alarm(lake, told)
    following.look()
    lake.epoch([fact(amount=95), fact(amount=1)])
    lake.epoch([fact(amount=1)])
    assert (following.look(), following.look()) == (1, 0)
    assert alarm(lake, told).look() == 0
    assert kept(lake) == ["toy.large/1/0/0", "toy.large/1/0/1"]


def test_nothing_is_missed_of_a_source_that_begins(lake: ToyLake, told: Told) -> None:
    following = alarm(lake, told)
    assert following.look() == 0
    for amount in (91, 92, 93):
        lake.epoch([fact(amount=amount)])
    assert following.look() == 3


def test_history_is_not_told_by_a_rule_that_is_armed_now_and_a_crash_does_not_arm_it_later(
    lake: ToyLake, told: Told
) -> None:
    for amount in (99, 99, 1):
        lake.epoch([fact(amount=amount)])
    assert alarm(lake, told).look() == 0
    lake.epoch([fact(amount=99)])
    assert (alarm(lake, told).look(), kept(lake)) == (1, ["toy.large/1/0/3"])


def test_what_came_while_nobody_looked_is_told_afterwards(lake: ToyLake, told: Told) -> None:
    lake.epoch([fact(amount=99)])
    alarm(lake, told).look()
    for amount in (91, 5, 92):
        lake.epoch([fact(amount=amount)])
    assert alarm(lake, told).look() == 2
    assert len(kept(lake)) == 3


def test_a_crash_between_topic_and_table_tells_twice_and_keeps_once(lake: ToyLake, told: Told) -> None:
    lake.epoch([fact(amount=1)])
    alarm(lake, told).look()
    lake.epoch([fact(amount=99)])

    def die(_: Sequence[dict[str, Any]]) -> None:
        raise ConnectionError("killed here")

    with pytest.raises(ConnectionError):
        Alarm(lake.layout, lake.domain.sources[0], die).look()
    assert alarm(lake, told).look() == 1
    assert (len(told), kept(lake)) == (1, ["toy.large/1/0/1"])


def test_compaction_tells_nothing_again(lake: ToyLake, told: Told) -> None:
    following = alarm(lake, told)
    for _ in range(3):
        lake.epoch([fact(amount=99)])
        following.look()
    DeltaTable(lake.layout.silver("r1", "toy.events")).optimize.compact()
    lake.epoch([fact(amount=99)])
    assert following.look() == 1
    assert len(kept(lake)) == 4


def test_a_switch_and_its_revert_tell_every_match_once_and_miss_none(lake: ToyLake, told: Told) -> None:
    """The log has a match at every offset. Releases cut it into epochs of their own; one is ahead of the other."""
    r1, r2 = two_releases(lake)
    first, second = (Alarm(lake.layout, lake.domain.sources[0], told.tell, name) for name in ("r1", "r2"))
    shaped(r1, 0, 1)
    first.look()
    shaped(r1, 1, 3)
    shaped(r2, 0, 5)
    assert (first.look(), second.look()) == (2, 0)
    switch(lake.layout, "toy", "r2", "ann", "try it")
    shaped(r2, 5, 6)
    assert (first.look(), second.look()) == (0, 3)
    shaped(r2, 6, 8)
    shaped(r1, 3, 7)
    assert (first.look(), second.look()) == (0, 2)
    switch(lake.layout, "toy", "r1", "ann", "go back")
    shaped(r1, 7, 9)
    # As after a restart: whatever is known is in the table.
    again = Alarm(lake.layout, lake.domain.sources[0], told.tell, "r1")
    assert (second.look(), again.look()) == (0, 1)
    assert sorted(one["offset"] for one in told) == list(range(9))
    assert kept(lake) == [f"toy.large/1/0/{offset}" for offset in range(9)]


def test_two_alarms_that_both_think_they_are_current_keep_each_alert_once(lake: ToyLake, told: Told) -> None:
    r1, r2 = two_releases(lake)
    shaped(r1, 0, 1)
    alarm(lake, told).look()
    shaped(r1, 1, 2)
    shaped(r2, 0, 2)

    def overtaken(_: Sequence[dict[str, Any]]) -> None:
        switch(lake.layout, "toy", "r2", "ann", "while the other one tells")
        assert Alarm(lake.layout, lake.domain.sources[0], told.tell, "r2").look() == 1

    with pytest.raises(CommitFailedError):
        Alarm(lake.layout, lake.domain.sources[0], overtaken).look()
    assert kept(lake) == ["toy.large/1/0/0", "toy.large/1/0/1"]


def two_releases(lake: ToyLake) -> tuple[ToyLake, ToyLake]:
    say(lake.layout, Release("toy", "r2", READY))
    return lake, replace(lake, release="r2", epochs=[])


def shaped(lake: ToyLake, first: int, after: int) -> None:
    """One epoch of a release, of these offsets of the log; each is a match."""
    lake.write(silver_rows([fact(amount=99)] * (after - first), len(lake.epochs), first))


def test_an_epoch_that_comes_again_after_a_rewind_is_not_told_again(lake: ToyLake, told: Told) -> None:
    following = alarm(lake, told)
    for offset in range(3):
        shaped(lake, offset, offset + 1)
        following.look()
    # The stream goes on from the restore point, under numbers that were never used.
    shaped(lake, 1, 3)
    shaped(lake, 3, 4)
    assert following.look() == 1
    assert [one["offset"] for one in told] == [0, 1, 2, 3]


def test_a_rule_is_tried_over_history_before_it_is_armed(lake: ToyLake) -> None:
    lake.epoch([fact(minutes=0, amount=None), fact(minutes=1, amount=None), fact(minutes=1500, amount=None)])
    days = alerts.tried(rule("toy.quiet"), lake.layout.silver("r1", "toy.events"), 7, MIDNIGHT.date() + timedelta(1))
    assert [(each["day"].day, each["alerts"]) for each in days] == [(2, 2), (3, 1)]


def test_a_new_version_of_a_rule_is_another_rule_to_its_alerts(lake: ToyLake) -> None:
    lake.epoch([fact(amount=99)])
    large: Rule = rule("toy.large")
    found = [alerts.matches([replace(large, version=version)], lake.facts())["id"][0].as_py() for version in (1, 2)]
    assert found == ["toy.large/1/0/0", "toy.large/2/0/0"]


def test_every_rule_of_every_domain_can_be_asked() -> None:
    forget()
    every = [each for domain in domains().values() for each in domain.rules if isinstance(each, Rule)]
    assert [alerts.matches([each], no_facts(each.of.source)).num_rows for each in every] == [0] * len(every)


def test_alerts_are_read_over_the_api(lake: ToyLake, client: TestClient, told: Told) -> None:
    lake.epoch([fact("ann", amount=99), fact("bob", amount=98)])
    alarm(lake, told).look()
    rows = client.get("/api/alerts?rule=toy.large&limit=1").json()["rows"]
    assert [(row["id"], row["fact"]["who"]) for row in rows] == [("toy.large/1/0/0", "ann")]
    assert client.get("/api/alerts?rule=toy.unheard").status_code == 404


def test_the_command_line_lists_tries_and_tells(
    lake: ToyLake, settings: Settings, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    lake.epoch([fact(amount=99)])
    alarm(lake, told).look()
    for words in (["list"], ["try", "toy.large", "--days", "400"], ["told", "toy.large"]):
        run = CliRunner().invoke(application(), ["rules", *words])
        assert (run.exit_code, "toy.large" in run.output) == (0, True), run.output
