"""What a restatement makes of rows, how it is taken back in any order, and what is refused."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_lake import ToyLake, fact, silver_rows

from penstock.engine.blast import restated
from penstock.engine.conditions import BadCondition
from penstock.engine.matching import about, after
from penstock.engine.restating import named
from penstock.engine.retraction import Unconfirmed, settled
from penstock.lake.layout import Layout
from penstock.lake.retractions import RETRACTIONS, Restatement, Retraction
from penstock.lake.statements import NoSuchStatement
from penstock.model.domain import Domain

LOOK = Restatement("s1", "toy.events", "who = 'ann'", field="what", value="'look'")
UPPER = Restatement("s2", "toy.events", "true", field="what", value="upper(what)")
MORE = Restatement("s3", "toy.events", "what = 'buy'", field="amount", value="amount * 10")
NONE = Restatement("s4", "toy.events", "amount > 5", field="amount", value="null")
SAID = (LOOK, UPPER, MORE, NONE)


def revoked(said: Restatement, where: str = "true") -> Restatement:
    return replace(said, id=f"v{said.id}", where=where, value="", of=said.id)


def values(rows: pa.Table, field: str) -> list[object]:
    return rows[field].to_pylist()


def test_the_field_says_what_is_right_and_the_row_what_it_said_before(lake: ToyLake) -> None:
    rows = after(lake.facts(), lake.domain.sources[0], [MORE])
    assert values(rows, "amount") == [1, 600, 70]
    assert values(rows, "flags") == [[], ["restated:s3:amount=60"], ["restated:s3:amount=7"]]
    assert values(rows, "disposition") == ["fact"] * 3


def test_of_several_on_one_field_the_last_that_is_left_counts(lake: ToyLake) -> None:
    rows, source = lake.facts(), lake.domain.sources[0]
    both = after(rows, source, [LOOK, UPPER])
    assert values(both, "what") == ["LOOK", "BUY", "LOOK"]
    assert values(after(both, source, [revoked(LOOK)]), "what") == ["LOOK", "BUY", "LOOK"]
    assert after(both, source, [revoked(LOOK), revoked(UPPER)]).equals(rows)


def test_half_of_it_is_taken_back(lake: ToyLake) -> None:
    rows = after(lake.facts(), lake.domain.sources[0], [MORE, revoked(MORE, "who = 'bob'")])
    assert values(rows, "amount") == [1, 60, 70]


amounts = st.one_of(st.none(), st.integers(-10, 10))
told = st.lists(st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from(["look", "buy", "", None]), amounts))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told, st.permutations(SAID), st.permutations(SAID))
def test_taken_back_in_any_order_every_row_is_as_it_was(
    toy: Domain, told: list[tuple[str, str | None, int | None]], said: list[Restatement], back: list[Restatement]
) -> None:
    rows = silver_rows([fact(who, 0, what, amount) for who, what, amount in told], 0, 0)
    assert after(rows, toy.sources[0], [*said, *map(revoked, back)]).equals(rows)


def test_what_is_retracted_is_restated_too(lake: ToyLake) -> None:
    gone = Retraction("x1", "toy.events", "who = 'bob'")
    back = Retraction("v1", "toy.events", "true", of="x1")
    rows = after(lake.facts(), lake.domain.sources[0], [gone, MORE, back])
    assert (values(rows, "amount"), values(rows, "disposition")) == ([1, 600, 70], ["fact"] * 3)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("colour", "'red'", "no field 'colour'"),
        ("event_id", "'e1'", "no field 'event_id'"),
        ("happened_at", "now()", "no field 'happened_at'"),
        ("who", "'bob'", "the log is partitioned"),
        ("amount", "", "Give a condition and a value"),
    ],
)
def test_a_field_that_must_stay_is_refused_and_the_others_are_named(
    lake: ToyLake, field: str, value: str, why: str
) -> None:
    with pytest.raises(BadCondition, match=why):
        named(lake.layout, "op", lake.domain.sources[0], "true", "", "", field, value, "")


def test_what_is_personal_is_not_kept_in_a_statement(lake: ToyLake) -> None:
    source = replace(lake.domain.sources[0], key="what")
    with pytest.raises(BadCondition, match=r"personal.*may be restated: amount"):
        named(lake.layout, "op", source, "true", "", "", "who", "'bob'", "")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("'many'", "is a VARCHAR, and amount a bigint"),
        ("amount / 2", "is a DOUBLE"),
        ("max(amount)", "cannot be asked"),
        ("amount, 2", "is no expression"),
        ("nope", 'Columns: .*"amount"'),
    ],
)
def test_a_value_that_does_not_fit_is_refused(lake: ToyLake, value: str, why: str) -> None:
    source = lake.domain.sources[0]
    with pytest.raises(BadCondition, match=why):
        about(lake.facts(), source, named(lake.layout, "op", source, "true", "", "", "amount", value, ""))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("amount + random()", "random may say something else"),
        ("date_part('day', NOW())", "now may say something else"),
        ("date_part('year', CURRENT_LOCALTIMESTAMP())", "current_localtimestamp may say something else"),
        ("unnest([1, 2])", "unnest makes several rows of one"),
        ("UNLIST([1, 2])", "unlist makes several rows of one"),
        ("generate_subscripts([1, 2], 1)", "generate_subscripts makes several rows of one"),
        ("(select max(amount) from rows)", "a subquery"),
        ("row_number() over ()", "a window"),
    ],
)
def test_a_value_that_one_row_alone_does_not_decide_for_ever_is_not_stated(toy: Domain, value: str, why: str) -> None:
    with pytest.raises(BadCondition, match=why):
        named(Layout("nowhere"), "op", toy.sources[0], "true", "", "", "amount", value, "")


def test_what_is_in_force_is_said_again_even_if_it_would_be_refused_today(lake: ToyLake) -> None:
    source = replace(lake.domain.sources[0], key="amount")
    old = replace(MORE, where="what = 'buy' and now() > happened_at", value="amount + cast(random() as int) * 0")
    assert about(lake.facts(), source, old).num_rows == 2


def test_a_statement_that_makes_several_rows_of_a_record_is_stopped_before_anything_is_written(lake: ToyLake) -> None:
    with pytest.raises(AssertionError, match="s3 is about 4 rows of 2 records"):
        about(lake.facts(), lake.domain.sources[0], replace(MORE, value="unnest([1, 2])"))


@pytest.mark.parametrize(("how", "told"), [({"where": "true"}, "every fact"), ({"first": "2027-01-01"}, "no fact")])
def test_everything_and_nothing_must_be_confirmed(lake: ToyLake, how: dict[str, Any], told: str) -> None:
    with pytest.raises(Unconfirmed, match=told):
        settled(lake.layout, lake.domain.sources[0], replace(MORE, **how))


def test_the_plan_tells_values_and_numbers_before_and_after(lake: ToyLake) -> None:
    told = restated(lake.layout, "toy.events", "what = 'buy'", "2026-03-02", "2026-03-02", "amount", "amount * 10", "")
    assert told.startswith("2 of 3 facts, on 1 days")
    assert "| 60 | 600 | 1 |" in told
    assert "| toy.events_by_what | 2026-03-02 | amount | 68 | 671 |" in told


def test_a_retraction_is_not_taken_back_as_a_restatement(lake: ToyLake) -> None:
    source = lake.domain.sources[0]
    settled(lake.layout, source, Retraction("x1", "toy.events", "who = 'ann'"))
    settled(lake.layout, source, replace(MORE, where="who = 'bob'"))
    assert [each.verb for each in RETRACTIONS.in_force(lake.layout, source.name)] == ["retracted", "restated"]
    with pytest.raises(NoSuchStatement, match="there are: s3"):
        named(lake.layout, "op", source, "", "", "", "", "", "x1")
    assert named(lake.layout, "op", source, "", "", "", "", "", "s3").field == "amount"
