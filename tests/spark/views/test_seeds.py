"""From a seed: traffic, late and doubled epochs, cuts at random. Every plan gives the oracle's numbers, row by row."""

import os
import random
from itertools import cycle

import duckdb
import pytest
from toy_lake import ToyLake, traffic

from .conftest import WAYS

FULL = os.environ.get("PENSTOCK_FULL")
SEEDS = range(200 if FULL else 2)
TALLY = """
select what, count(*) as events, count(*) filter (where amount > 50) as large, sum(amount)::double as amount,
    count(distinct who)::double as who, min(amount) as least, max(amount) as most
from facts group by what order by events desc, what
"""
# Written as people write sessions in SQL, without partials and stitching.
SESSIONS = """
with gaps as (select *, happened_at - lag(happened_at) over (partition by who order by happened_at) as gap from facts),
numbered as (select *, count(*) filter (where gap >= interval 30 minutes)
    over (partition by who order by happened_at rows unbounded preceding) as number from gaps)
select who, min(happened_at) as started, max(happened_at) as ended, count(*) as events
from numbered group by who, number order by started desc, who
"""
# Sets, and what is made of them by and, or and not.
SETS = """
with large as (select distinct who from facts where what <> 'noise' and amount > 50)
select count(distinct who)::double as who_seen, (select count(*) from large)::double as who_large,
    count(distinct who) filter (where who not in (from large))::double as who_small
from facts where what <> 'noise'
"""
NUMBERS = ["what", "events", "large", "amount", "who", "least", "most"]
SPANS = ["who", "started", "ended", "events"]


# A build costs seconds and chance makes many: a seed of five took 78 s while others used the machine.
@pytest.mark.timeout(1200 if FULL else 400)
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("seed", "way"), [*zip(SEEDS, cycle(WAYS))], indirect=["way"])
def test_every_plan_gives_the_numbers_of_the_oracle(lake: ToyLake, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    told = traffic(seed, chance.randrange(20, 90))
    while told:
        size = chance.randint(1, 30)
        lake.epoch(told[:size])
        told = told[size:]
        if chance.random() < 0.3:
            lake.commit(chance.randrange(len(lake.epochs)))
        if chance.random() < 0.25:
            lake.build()
    merged = numbers(lake)
    lake.build(full=True)
    assert merged == numbers(lake) == oracle(lake)


def numbers(lake: ToyLake) -> dict[str, list[dict[str, object]]]:
    tally = lake.answer("toy.events_by_what", by="what", order="-events").rows.select(NUMBERS)
    sets = lake.answer("toy.everything").rows.select(["who_seen", "who_large", "who_small"])
    sessions = lake.answer("toy.sessions").rows.select(SPANS)
    return {"tally": tally.to_pylist(), "sessions": sessions.to_pylist(), "sets": sets.to_pylist()}


def oracle(lake: ToyLake) -> dict[str, list[dict[str, object]]]:
    with duckdb.connect(":memory:") as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("facts", lake.facts())
        asked = {"tally": TALLY, "sessions": SESSIONS, "sets": SETS}
        return {name: engine.sql(sql).to_arrow_table().to_pylist() for name, sql in asked.items()}
