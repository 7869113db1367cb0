# ruff: noqa: S608 - queries of names that tests chose
"""The laws of measures, tried on many random cases at once: a case is a column, so one query tries them all."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa

from penstock.lake import sketches
from penstock.model.measure import Measure
from penstock.model.measures import (
    count,
    distinct,
    exact_distinct,
    first,
    histogram,
    last,
    maximum,
    mean,
    members,
    minimum,
    quantile,
    theta,
    top,
    total,
)

MEASURES: Mapping[str, Measure] = {
    "count": count(),
    "count_where": count("number > 3"),
    "total": total("number"),
    "total_real": total("real", "number > 3"),
    "mean": mean("real"),
    "minimum": minimum("number"),
    "maximum": maximum("real"),
    "first": first("word"),
    "last": last("number"),
    "distinct": distinct("word"),
    "distinct_many": distinct("number"),
    "exact_distinct": exact_distinct("word"),
    "theta": theta("word", "number > 3"),
    "others": theta("word", "real > 0"),
    "either": members("theta or others"),
    "both": members("theta and others"),
    "neither": members("(theta or others) and not (theta and others)"),
    "quantile": quantile("real", 0.9),
    "top": top("word", 3),
    "histogram": histogram("number", [0, 5, 8]),
}
Aggregate = Callable[[pa.Table, list[str], Mapping[str, str]], pa.Table]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PARTS = 4


def cases(seed: int, number: int) -> pa.Table:
    """Facts of so many cases, each fact in one of four parts; empty parts, nulls, ties and extremes among them."""
    chance = random.Random(seed)  # noqa: S311
    rows = []
    for case in range(number):
        parts = chance.randint(1, PARTS)
        for _ in range(chance.choice([0, 1, 2, 5, 20])):
            rows.append(
                {
                    "case": case,
                    "part": chance.randrange(parts),
                    "number": chance.choice([None, 0, -1, 7, 2**40, chance.randrange(10)]),
                    "real": chance.choice([None, 0.0, -0.1, 1e-9, 1e15, round(chance.uniform(-9, 9), 4)]),
                    "word": chance.choice([None, "", "ä", "a", "b", f"w{chance.randrange(30)}"]),
                    "moment": NOON + timedelta(seconds=chance.choice([0, 0, chance.randrange(99)])),
                }
            )
    kinds = {"case": pa.int64(), "part": pa.int64(), "number": pa.int64(), "real": pa.float64(), "word": pa.string()}
    return pa.Table.from_pylist(rows, pa.schema([*kinds.items(), ("moment", pa.timestamp("us", "UTC"))]))


def broken_laws(
    seed: int,
    number: int,
    partial: Aggregate,
    merge: Aggregate,
    merges: str,
    measures: Mapping[str, Measure] = MEASURES,
) -> list[str]:
    """The laws that a random case broke, by measure. `merges`: which of a measure's templates `merge` understands."""
    facts = cases(seed, number)
    partials = {column: sql for name, measure in measures.items() for column, sql in _first(partial, measure, name)}
    merging = {
        column: sql for name, measure in measures.items() for column, sql in getattr(measure, merges)(name).items()
    }
    whole = partial(facts, ["case"], partials)
    parts = partial(facts, ["case", "part"], partials)
    nothing = partial(facts.slice(0, 0), [], partials)
    empty = _with(nothing, "case", 0).select(parts.drop_columns("part").column_names)
    left = merge(_with_sql(parts, "part // 2 as side"), ["case", "side"], merging)
    right = merge(_with_sql(parts, "(part + 1) // 2 as side"), ["case", "side"], merging)
    expected = shown(merge(whole, ["case"], merging), measures)
    tried = {
        "batch = merge of a partition": merge(parts, ["case"], merging),
        "commutative": merge(parts.take(list(reversed(range(parts.num_rows)))), ["case"], merging),
        "associative, to the left": merge(left, ["case"], merging),
        "associative, to the right": merge(right, ["case"], merging),
        "idempotent shape": merge(merge(whole, ["case"], merging), ["case"], merging),
        "identity": merge(
            pa.concat_tables([whole, *_for_each(empty, whole)], promote_options="permissive"), ["case"], merging
        ),
    }
    return [f"{law}: {wrong}" for law, rows in tried.items() for wrong in differences(expected, shown(rows, measures))]


def shown(merged: pa.Table, measures: Mapping[str, Measure]) -> dict[int, dict[str, Any]]:
    """What a reader sees of merged partials, by case."""
    numbers = ", ".join(f"{measure.shown(name)} as {name}" for name, measure in measures.items())
    rows = asked(f'select "case", {numbers} from rows', merged).to_pylist()
    return {row["case"]: row for row in rows}


def differences(expected: Mapping[int, Mapping[str, Any]], found: Mapping[int, Mapping[str, Any]]) -> list[str]:
    if expected.keys() != found.keys():
        return [f"{len(expected)} cases, {len(found)} found"]
    wrong = [(case, name) for case in expected for name in expected[case] if expected[case][name] != found[case][name]]
    return [f"{name} of case {case}: {expected[case][name]} is not {found[case][name]}" for case, name in wrong[:5]]


def in_duckdb(rows: pa.Table, by: list[str], expressions: Mapping[str, str]) -> pa.Table:
    keys = [f'"{name}"' for name in by]
    columns = ", ".join([*keys, *(f"{sql} as {column}" for column, sql in expressions.items())])
    return asked(f"select {columns} from rows" + (f" group by {', '.join(keys)}" if by else ""), rows)


def asked(sql: str, rows: pa.Table) -> pa.Table:
    with duckdb.connect(":memory:", config={"threads": 1}) as engine:
        engine.execute("set TimeZone = 'UTC'")
        sketches.register(engine)
        engine.register("rows", rows)
        return engine.sql(sql).to_arrow_table()


def _first(partial: Aggregate, measure: Measure, name: str) -> list[tuple[str, str]]:
    expressions = measure.locals(name, "moment") if partial is in_duckdb else measure.partials(name, "moment")
    return list(expressions.items())


def _with(rows: pa.Table, name: str, value: int) -> pa.Table:
    return rows.append_column(name, pa.array([value] * rows.num_rows, pa.int64()))


def _with_sql(rows: pa.Table, column: str) -> pa.Table:
    return asked(f"select *, {column} from rows", rows).drop_columns("part")


def _for_each(empty: pa.Table, whole: pa.Table) -> list[pa.Table]:
    """The partial of no facts, for every case."""
    cases = whole["case"].to_pylist()
    many = empty.take([0] * len(cases))
    return [many.set_column(many.column_names.index("case"), "case", pa.array(cases, pa.int64()))]
