"""A comparison says what changed, by how much, and which rule or field explains it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from toy_lake import ToyLake, fact, silver_rows, traffic

from penstock.lake.layout import Layout
from penstock.lake.releases import READY, Release, say
from penstock.model.domain import Domain, domains
from penstock.serve.compare import comparison
from penstock.serve.compare.changes import changed
from penstock.serve.compare.comparison import Comparison, compare
from penstock.serve.compare.markdown import markdown

Rows = list[dict[str, Any]]
FACTS = [fact(f"v{number % 4}", 60 * number, amount=number) for number in range(40)]


@pytest.fixture
def compared(tmp_path: Path, toy: Domain) -> Callable[[Rows, Rows], Comparison]:
    """The comparison of two releases with these rows of silver."""
    layout = Layout(str(tmp_path / "lake"))

    def compared(before: Rows, after: Rows) -> Comparison:
        for release, rows in (("r1", before), ("r2", after)):
            lake = ToyLake(None, layout, domains()["toy"], release=release)
            lake.write(silver_rows(rows, 0, 0))
        say(layout, Release("toy", "r2", READY))
        return compare(layout, tmp_path, "toy", "r1", "r2")

    return compared


def change(told: Comparison, name: str) -> Any:
    return next(each for each in told.views if each.view == name)


def test_the_same_rows_are_the_same(compared: Callable[[Rows, Rows], Comparison]) -> None:
    told = compared(traffic(1, 80), traffic(1, 80))
    assert (told.same, told.share(), told.within(0)) == (True, 0.0, True)


def test_a_rule_that_rejects_some_is_named_with_its_share(compared: Callable[[Rows, Rows], Comparison]) -> None:
    rejected = {"disposition": "rejected", "reason": "missing_who"}
    after = [{**one, **(rejected if nth % 4 == 0 else {})} for nth, one in enumerate(FACTS)]
    told = compared(FACTS, after)
    assert told.sources[0].counts == {"fact to rejected": 10}
    tally = change(told, "toy.events_by_what")
    assert [(cause.name, cause.records, cause.share) for cause in tally.causes] == [("rule missing_who", 10, 1.0)]
    assert (tally.measures["events"].before, tally.measures["events"].after, tally.measures["events"].share) == (
        40,
        30,
        0.25,
    )
    assert (told.within(10), told.within(99)) == (False, True)


def test_a_field_that_changed_explains_only_views_that_use_it(compared: Callable[[Rows, Rows], Comparison]) -> None:
    after = [{**one, "amount": one["amount"] + 1 if nth < 5 else one["amount"]} for nth, one in enumerate(FACTS)]
    told = compared(FACTS, after)
    assert [(cause.name, cause.records) for cause in told.sources[0].causes] == [("field amount", 5)]
    assert [cause.name for cause in change(told, "toy.events_by_what").causes] == ["field amount"]
    assert change(told, "toy.events_by_what").measures["amount"].after == sum(range(40)) + 5
    assert told.sources[0].causes[0].samples[0]["differs"] == ["amount"]


def test_copies_are_told_apart_from_code(compared: Callable[[Rows, Rows], Comparison]) -> None:
    after = [{**one, **({"disposition": "duplicate"} if nth == 7 else {})} for nth, one in enumerate(FACTS)]
    told = compared(FACTS, after)
    assert [(cause.name, cause.of_code) for cause in told.sources[0].causes] == [("late copy", False)]


@pytest.mark.parametrize(
    "gone",
    [{"flags": ["expired"], "who": None, "amount": None}, {"disposition": "rejected", "reason": "expired"}],
    ids=["emptied", "too late"],
)
def test_what_expired_in_one_release_is_told_apart_from_code(
    compared: Callable[[Rows, Rows], Comparison], gone: dict[str, Any]
) -> None:
    told = compared([{**one, **(gone if nth < 3 else {})} for nth, one in enumerate(FACTS)], FACTS)
    assert [(cause.name, cause.records, cause.of_code) for cause in told.sources[0].causes] == [("expired", 3, False)]


def test_what_one_release_has_not_yet_is_no_difference(compared: Callable[[Rows, Rows], Comparison]) -> None:
    told = compared(FACTS, FACTS[:-2])
    assert (told.sources[0].ahead, told.sources[0].moved, told.same) == (2, 0, True)
    assert [str(day) for day in told.moving] == ["2026-03-03"]


def test_a_comparison_reads_well(compared: Callable[[Rows, Rows], Comparison]) -> None:
    after = [
        {**one, **({"disposition": "rejected", "reason": "malformed"} if nth < 2 else {})}
        for nth, one in enumerate(FACTS)
    ]
    text = markdown(compared(FACTS, after))
    assert "2 of 40 records are judged otherwise." in text
    assert "| rule malformed | 2 | 100.0% | code |" in text


def test_a_view_that_was_built_of_nothing_is_as_one_that_was_not_built(toy: Domain) -> None:
    view = next(each for each in toy.views if each.name == "toy.impulses")
    nothing = pa.table({"who": pa.array([], pa.string())})
    with duckdb.connect() as engine:
        assert [changed(engine, view, view, *rows, set()).same for rows in ((None, nothing), (nothing, None))] == [
            True,
            True,
        ]


def test_each_comparison_has_a_folder_for_what_does_not_fit_and_leaves_none(
    compared: Callable[[Rows, Rows], Comparison], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spilled = list[Path]()

    def connect(config: dict[str, str]) -> duckdb.DuckDBPyConnection:
        spilled.append(Path(config["temp_directory"]))
        assert spilled[-1].is_dir()
        return duckdb.connect(config=config)

    monkeypatch.setattr(comparison, "duckdb", SimpleNamespace(connect=connect))
    for _ in range(2):
        assert compared(FACTS, FACTS).sources[0].compared == len(FACTS)
    assert len({*spilled}) == 2
    assert [*(tmp_path / "tmp").iterdir()] == []
