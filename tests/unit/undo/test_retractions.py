"""What a condition means, what is refused, and what a new release repeats of what was said."""

from dataclasses import replace

import pytest
from deltalake import write_deltalake
from toy_lake import ToyLake, fact

from penstock.engine import rewind as rewinding
from penstock.engine.blast import radius
from penstock.engine.conditions import BadCondition
from penstock.engine.matching import about, after, named
from penstock.engine.pinning import take
from penstock.engine.retraction import Unconfirmed, settled
from penstock.lake.alerts import book, matches
from penstock.lake.restore_points import find
from penstock.lake.retractions import RETRACTIONS, Retraction
from penstock.model.domain import Domain
from penstock.model.rule import Rule
from penstock.model.source import Facts, Field

ANN = Retraction("x1", "toy.events", "who = 'ann'")
BUY = Retraction("x2", "toy.events", "what = 'buy'")


def test_a_row_is_a_fact_again_when_the_last_that_held_it_is_revoked(lake: ToyLake) -> None:
    rows, source = lake.facts(), lake.domain.sources[0]
    both = after(rows, source, [ANN, BUY])
    assert both["disposition"].to_pylist() == ["rejected", "rejected", "rejected"]
    one = after(both, source, [replace(ANN, id="v1", where="true", of="x1")])
    assert one["disposition"].to_pylist() == ["fact", "rejected", "rejected"]
    assert after(one, source, [replace(BUY, id="v2", where="true", of="x2")]).equals(rows)


@pytest.mark.parametrize(
    "where", ["nope = 1", "1 +", "true) or (true", "(select count(*) from read_csv('/etc/passwd')) > 0", "raw is null"]
)
def test_a_condition_that_is_none_is_refused_and_says_which_columns_there_are(lake: ToyLake, where: str) -> None:
    with pytest.raises(BadCondition, match='"who", "what", "amount"'):
        about(lake.facts(), lake.domain.sources[0], named("op", lake.domain.sources[0], where, "", "", ""))


@pytest.mark.parametrize(
    "where",
    [
        "happened_at > CURRENT_TIMESTAMP",
        "day < Current_Date",
        "happened_at::time > LOCALTIME",
        "happened_at > localtimestamp",
        "AGE(happened_at) > interval 1 day",
        "Today() = day",
    ],
)
def test_a_condition_that_asks_what_time_it_is_is_refused_however_it_is_written(toy: Domain, where: str) -> None:
    with pytest.raises(BadCondition, match="may say something else when a replay asks it"):
        named("op", toy.sources[0], where, "", "", "")


def test_a_condition_that_says_the_same_at_any_time_is_understood(lake: ToyLake) -> None:
    where = """WHO = 'ann' and "Day" > '2026-01-01' and age(received_at, happened_at) < '1 day'"""
    source = lake.domain.sources[0]
    assert about(lake.facts(), source, named("op", source, where, "", "", "")).num_rows == 2


def test_a_column_with_a_clocks_name_is_no_clock(toy: Domain) -> None:
    source = toy.sources[0]
    clocked = replace(source, fields=(*source.fields, Field("localtime", "string", "what a client's clock said")))
    assert named("op", clocked, "LOCALTIME = '09:30'", "", "", "").where


@pytest.mark.parametrize(
    ("where", "first", "last", "why"),
    [
        ("", "", "", "Give a condition"),
        ("true", "yesterday", "", "neither a day"),
        ("true", "2026-03-03", "2026-03-01", "is no range"),
        ("true", "", "2026-11-31", "neither a day"),
        ("true", "", "18.11.2026", "neither a day"),
        ("true", "", "9999-12-31", "leave the end of the range empty"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(toy: Domain, where: str, first: str, last: str, why: str) -> None:
    with pytest.raises(BadCondition, match=why):
        named("op", toy.sources[0], where, first, last, "")


@pytest.mark.parametrize(("where", "told"), [("true", "every fact"), ("who = 'nobody'", "no fact")])
def test_everything_and_nothing_must_be_confirmed(lake: ToyLake, where: str, told: str) -> None:
    with pytest.raises(Unconfirmed, match=told):
        settled(lake.layout, lake.domain.sources[0], replace(ANN, where=where))


def test_the_blast_radius_tells_numbers_before_and_after(lake: ToyLake) -> None:
    blast = radius(lake.layout, "r1", lake.domain.sources[0], ANN)
    events = [row for row in blast.numbers if row["view"] == "toy.events_by_what" and row["measure"] == "events"]
    assert (blast.facts, blast.total, dict(blast.days)) == (2, 3, {"2026-03-02": 2})
    assert [(row["before"], row["after"]) for row in events] == [(3, 1)]


def test_the_blast_radius_counts_the_alerts_that_were_told_of_these_facts(lake: ToyLake) -> None:
    source = lake.domain.sources[0]
    (rule,) = [each for each in lake.domain.rules if each.name == "toy.large"]
    assert isinstance(rule, Rule)
    every = matches((replace(rule, of=Facts(source, "true"), shows=()),), lake.facts())
    write_deltalake(book(lake.layout.alerts()), every, mode="append")
    blast = radius(lake.layout, "r1", source, ANN)
    assert (every.num_rows, dict(blast.alerts)) == (3, {"toy.large": 2})
    assert "not taken back: toy.large 2." in blast.text()


def test_a_statement_is_about_what_was_there_when_it_was_made(lake: ToyLake) -> None:
    source = lake.domain.sources[0]
    said = settled(lake.layout, source, ANN)
    lake.epoch([fact("ann", 20)])
    assert after(lake.facts(), source, [said])["disposition"].to_pylist().count("rejected") == 2


def test_a_rewind_goes_back_in_what_was_said_too(lake: ToyLake) -> None:
    source = lake.domain.sources[0]
    settled(lake.layout, source, ANN)
    point = take(lake.layout, "hand", "test", "one was said")
    lake.epoch([fact("eve", 11, "buy")])
    settled(lake.layout, source, BUY)
    went = rewinding.rewind(lake.layout, point, "toy", "test", "to see")
    assert [each.id for each in RETRACTIONS.in_force(lake.layout, source.name)] == ["x1"]
    rewinding.rewind(lake.layout, find(lake.layout, went.saved), "toy", "test", "and back")
    assert [each.id for each in RETRACTIONS.in_force(lake.layout, source.name)] == ["x1", "x2"]
