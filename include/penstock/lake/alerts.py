# ruff: noqa: S608 - the text holds names and conditions that a domain declares
"""Alerts: facts that match a rule, each once. Found in Arrow tables by DuckDB, without a JVM."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.lake.appending import opened
from penstock.lake.local import answer
from penstock.lake.publication import open_table
from penstock.model.rule import Rule

MOMENT = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("rule", pa.string()),
        ("version", pa.int32()),
        ("source", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("event_id", pa.string()),
        ("happened_at", MOMENT),
        ("received_at", MOMENT),
        ("fact", pa.string()),
        ("day", pa.date32()),
    ]
)
STORED = {
    "partition_by": ["day"],
    "configuration": {
        "delta.dataSkippingStatsColumns": "happened_at,received_at",
        "delta.checkpointInterval": "100",
    },
}
# Far fewer than the topic's producer holds: whoever was away for long may have found any number.
TOLD_AT_ONCE = 10_000
Tell = Callable[[Sequence[dict[str, Any]]], None]
MATCHES = """
select '{name}/{version}/' || partition || '/' || "offset" as id, '{name}' as rule, {version}::int as version,
    '{source}' as source, partition, "offset", event_id, happened_at, received_at, {fact} as fact, day
from facts where disposition = 'fact' and ({where})
"""
TRIED = """
select rule, day, count(*) as alerts from ({matches}) group by all order by all
"""
TOLD_OF = """
select rule, count(*) as alerts from told semi join picked using (partition, "offset") where source = $source
group by rule order by alerts desc, rule
"""


def book(path: str) -> DeltaTable:
    """The table of alerts, made if there is none: by the streams or by serve, whoever comes first."""
    return opened(path, SCHEMA, **STORED)


def announce(tell: Tell, found: pa.Table) -> None:
    """Tells the topic. Before the table has them: at least once, with the alert's id as its key."""
    for some in found.drop_columns(["day"]).to_batches(TOLD_AT_ONCE):
        tell(some.to_pylist())


def shown(names: Sequence[str]) -> str:
    """DuckDB SQL of some columns as one JSON text."""
    pairs = ", ".join(f"'{name}': \"{name}\"" for name in names)
    return f"to_json({{{pairs}}})::varchar" if names else "'{}'"


def matches(rules: Sequence[Rule], facts: Any) -> pa.Table:
    """The alerts that these facts (a table, or a dataset) are to these rules of one source."""
    return answer(" union all ".join(map(_matches, rules)), facts=facts).cast(SCHEMA) if rules else SCHEMA.empty_table()


def tried(rule: Rule, silver: str, days: int, until: date) -> list[dict[str, Any]]:
    """How often a rule would have fired on each of the last days: what one looks at before it is armed."""
    table = open_table(silver)
    if table is None:
        return []
    near = pc.field("day") > pa.scalar(until - timedelta(days=days))
    facts = table.to_pyarrow_dataset().filter(near)
    told: list[dict[str, Any]] = answer(TRIED.format(matches=_matches(rule)), facts=facts).to_pylist()
    return told


def told_of(path: str, source: str, picked: pa.Table) -> dict[str, int]:
    """Rule -> alerts that were told of the records at these positions, the most first."""
    table = open_table(path)
    if table is None:
        return {}
    with duckdb.connect() as engine:
        engine.register("told", table.to_pyarrow_dataset())
        engine.register("picked", picked)
        return dict(engine.execute(TOLD_OF, {"source": source}).fetchall())


def latest(path: str, rule: str, limit: int) -> list[dict[str, Any]]:
    """The newest alerts, of one rule or (empty) of all."""
    table = open_table(path)
    if table is None:
        return []
    newest = f"select * from facts where rule = '{rule}' or '{rule}' = '' order by received_at desc, id limit {limit}"
    told: list[dict[str, Any]] = answer(newest, facts=DeltaTable(path).to_pyarrow_dataset()).to_pylist()
    return told


def _matches(rule: Rule) -> str:
    return MATCHES.format(
        name=rule.name, version=rule.version, source=rule.about, fact=shown(rule.shows), where=rule.where
    )
