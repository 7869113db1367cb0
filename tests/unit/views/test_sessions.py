"""Sessions where many facts are of one moment, as a batch of a phone's is: what comes in no order counts in none."""

import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from penstock.lake.local import Local, answer
from penstock.lake.session_sql import stitched_sql
from penstock.model.measures import count, total
from penstock.model.source import Facts, Field, Source
from penstock.model.view import Sessions

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOISE = Source("a.noise", "who", (Field("who"), Field("amount", "bigint")), ())
VIEW = Sessions("a.sessions", Facts(NOISE), ("who",), {"events": count(), "amount": total("amount")})
FACT = pa.schema([("who", pa.string()), ("amount", pa.int64()), ("happened_at", pa.timestamp("us", "UTC"))])
COLUMNS = ["who", "started", "ended", "facts"]


def facts(seed: int, number: int) -> pa.Table:
    """Each at one of four noons, so that there is a day of silence between any two moments."""
    chance = random.Random(seed)  # noqa: S311
    return pa.Table.from_pylist(
        [
            {
                "who": f"v{chance.randrange(1 + number // 13)}",
                "amount": chance.randrange(9),
                "happened_at": NOON + timedelta(days=chance.randrange(4)),
            }
            for _ in range(number)
        ],
        FACT,
    )


def by_hand(rows: pa.Table) -> list[tuple[object, ...]]:
    counted = rows.group_by(["who", "happened_at"]).aggregate([([], "count_all")]).to_pylist()
    return sorted((row["who"], row["happened_at"], row["happened_at"], row["count_all"]) for row in counted)


def shown(sessions: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in sessions.select(COLUMNS).to_pylist())


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("number", [200, 3_000])
def test_sessions_that_begin_with_many_facts_at_once_do_not_begin_in_the_one_before(seed: int, number: int) -> None:
    rows = facts(seed, number)
    assert shown(Local(rows).partials(VIEW)) == by_hand(rows)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("number", [200, 3_000])
def test_parts_of_sessions_that_began_at_once_are_joined_with_each_other_alone(seed: int, number: int) -> None:
    """As when each epoch brings some of a moment's facts."""
    rows = facts(seed, number)
    parts = pa.concat_tables(Local(rows.slice(first, 40)).partials(VIEW) for first in range(0, number, 40))
    assert shown(answer(stitched_sql(VIEW, near=False), minis=parts)) == by_hand(rows)
