# ruff: noqa: S608 - the text holds names of the view only
"""Facts enriched with what was known when they came: every plan gives one number, whatever is said later."""

import os
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from factories.profiles import EVENTS, MIDNIGHT, USERS, VIEW, epochs
from factories.web_lake import WebLake
from oracle import web_views
from unit.web.test_views_oracle import numbers

from domains.web.model import PROFILED
from domains.web.model import USERS as PROFILES
from domains.web.views import VIEWS_BY_PROFILE
from penstock.engine import daily
from penstock.engine.commit import Appender, create
from penstock.engine.scope import Scope, as_known
from penstock.engine.silver import INDEXED, widen
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.local import answer
from penstock.lake.profiles import Profiles, columns_of, enriched, lacking
from penstock.lake.publication import open_table
from penstock.model.source import Enriched, Facts, Source
from penstock.model.view import Latest

SEEDS = range(200 if os.environ.get("PENSTOCK_FULL") else 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_batch_speed_and_replay_agree_at_any_cut_with_the_oracle(tmp_path: Path, seed: int) -> None:
    lake, chance = told(tmp_path, seed), Random(seed)  # noqa: S311
    rows, expected = lake.told[EVENTS], numbers(oracle(lake))
    cut = chance.randrange(len(rows) + 1)
    built = batch(pa.concat_tables(rows[:cut]), profiles(lake)) if cut else []
    assert numbers(shown([*built, speed(lake, cut)])) == expected
    assert numbers(shown(batch(pa.concat_tables(rows), profiles(lake)))) == expected
    assert numbers(shown(batch(*replayed(lake, chance)))) == expected
    assert numbers(lake.rows(VIEW, by="site,user_region,user_plan")) == expected


def test_the_oracle_sees_profiles_at_all(tmp_path: Path) -> None:
    assert len({row["user_region"] for seed in range(3) for row in oracle(told(tmp_path / str(seed), seed))}) == 3


def test_a_profile_that_is_said_later_changes_nothing_that_was_counted(tmp_path: Path) -> None:
    lake = WebLake(Layout(str(tmp_path)), only=(VIEW,))
    lake.tell([seen("u1", 5)])
    lake.tell([profile("u1", 0, region="north")], USERS)
    lake.tell([seen("u1", 9)])
    assert [(row["user_region"], row["views"]) for row in lake.rows(VIEW, by="user_region")] == [
        ("north", 1),
        (None, 1),
    ]


def test_a_field_that_is_left_out_stays_as_it_was(tmp_path: Path) -> None:
    lake = WebLake(Layout(str(tmp_path)), only=(VIEW,))
    lake.tell([profile("u1", 0, region="north", plan="free"), profile("u1", 1, plan="paid")], USERS)
    lake.tell([seen("u1", 5)])
    (row,) = lake.rows(VIEW, by="user_region,user_plan")
    assert (row["user_region"], row["user_plan"]) == ("north", "paid")


def test_rows_that_say_nothing_of_it_are_joined_by_the_time_of_the_log(tmp_path: Path) -> None:
    """Repaired and mended rows, and lakes from before."""
    lake = WebLake(Layout(str(tmp_path)), only=(VIEW,))
    lake.tell([profile("u1", 2, region="north"), profile("u1", 6, region="south")], USERS)
    facts = pa.concat_tables([seen_facts(lake, "u1", hour) for hour in (1, 2, 5, 6)])
    facts = facts.set_column(facts.column_names.index("known"), "known", pa.nulls(len(facts), pa.string()))
    rows = enriched(PROFILED, facts, profiles(lake).rows()).sort_by("happened_at")
    assert rows["user_region"].to_pylist() == [None, "north", "north", "south"]


def test_what_is_retracted_of_a_profile_is_not_known_any_more(tmp_path: Path) -> None:
    lake = WebLake(Layout(str(tmp_path)), only=(VIEW,))
    lake.tell([profile("u1", 2, region="north")], USERS)
    held = profiles(lake)
    assert held.rows()["disposition"].to_pylist() == ["fact"]
    table = open_table(lake.layout.silver(FIRST_RELEASE, USERS))
    assert table
    table.update({"disposition": "'rejected'"})
    facts = seen_facts(lake, "u1", 5)
    assert enriched(PROFILED, facts, held.rows())["user_region"].to_pylist() == [None]


def test_a_replay_opens_only_the_files_that_have_its_records(tmp_path: Path) -> None:
    lake = WebLake(Layout(str(tmp_path)), only=(VIEW,))
    lake.tell([profile("u1", 0, region="north")], USERS)
    for hour in (5, 9):
        lake.tell([seen("u1", hour)])
    silver = open_table(lake.layout.silver(FIRST_RELEASE, EVENTS))
    assert silver
    older, newer = lake.told[EVENTS]
    files = pa.table(silver.get_add_actions(flatten=True))
    (other,) = files.filter(pc.field("min.offset") == newer["offset"][0])["path"].to_pylist()
    Path(silver.table_uri.removeprefix("file://"), other).unlink()
    again = older.set_column(older.column_names.index("known"), "known", pa.nulls(1, pa.string()))
    assert as_it_knew(lake, PROFILED.source, again)["known"].to_pylist() == ['{"web.users":[1]}']


def test_a_build_says_how_many_records_it_lacks(tmp_path: Path) -> None:
    lake = WebLake(Layout(str(tmp_path)), only=(VIEW,))
    lake.tell([profile("u1", 2, region="north")] * 3, USERS)
    lake.tell([seen("u1", 5)])
    silver = open_table(lake.layout.silver(FIRST_RELEASE, EVENTS))
    assert silver
    assert [lacking(silver, USERS, ends, None) for ends in ([3], [1], [])] == [0, 2, 3]
    assert lacking(silver, USERS, [], since=0) == 0


def test_a_table_from_before_gets_the_column(tmp_path: Path) -> None:
    path = str(tmp_path / "silver")
    create(path, pa.schema({"offset": pa.int64(), "content_hash": pa.int64(), "raw": pa.binary()}), ("offset",))
    appender = Appender(path)
    widen(path)
    widen(path)
    rows = {"offset": [1], "content_hash": [2], "raw": [b""], "known": ["{}"]}
    assert appender.append(pa.table(rows), "q", 1)
    table = open_table(path)
    assert table
    assert table.to_pyarrow_table().to_pylist() == [{name: value[0] for name, value in rows.items()}]  # type: ignore[index]


def test_enriched_facts_are_refused_where_they_cannot_be_counted() -> None:
    how = {"said": Facts(PROFILES), "key": "user", "on": "user"}
    with pytest.raises(ValueError, match="has fields region of its own"):
        Enriched(PROFILED.source, **how, columns={"region": "region"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no field colour"):
        Enriched(PROFILED.source, **how, columns={"tint": "colour"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Make it a tally"):
        Latest("web.now", of=PROFILED, key=("user",), columns=("page",))


def told(folder: Path, seed: int) -> WebLake:
    lake = WebLake(Layout(str(folder / "lake")), only=(VIEW,))
    lake.tell([], USERS)
    lake.tell([], EVENTS)
    for each in epochs(seed, 12):
        lake.tell(each.events, each.source)
    return lake


def seen(user: str, hour: int) -> dict[str, Any]:
    at = MIDNIGHT.replace(hour=hour).isoformat()
    site = {"type": "pageview", "site": "a.example", "visitor": "v", "url": "https://a.example/"}
    return {**site, "user": user, "happened_at": at}


def profile(user: str, hour: int, **said: str) -> dict[str, Any]:
    return {"user": user, "happened_at": MIDNIGHT.replace(hour=hour).isoformat(), **said}


def seen_facts(lake: WebLake, user: str, hour: int) -> pa.Table:
    lake.tell([seen(user, hour)])
    return lake.told[EVENTS][-1]


def profiles(lake: WebLake, release: str = FIRST_RELEASE) -> Profiles:
    return Profiles(lake.layout, release, PROFILES, columns_of([PROFILED]))


def batch(rows: pa.Table, said: Profiles) -> list[pa.Table]:
    """What a build makes of the days of these rows, in the view's own width."""
    silver = ds.dataset(rows)
    days = sorted(set(rows["day"].to_pylist()))
    (made,) = daily.partials(silver, [VIEWS_BY_PROFILE], days, said={VIEW: said.rows()})
    return [made.filter(pc.equal(made["width"], "1 minute"))]


def speed(lake: WebLake, first: int) -> pa.Table:
    """What the stream made of each epoch as it came, from one on."""
    table = open_table(lake.layout.speed(FIRST_RELEASE, VIEW))
    rows = table.to_pyarrow_table() if table else None
    assert rows is not None
    return rows.filter(pc.greater_equal(rows["epoch"], first)).drop_columns(["epoch"])


def as_it_knew(lake: WebLake, source: Source, rows: pa.Table) -> pa.Table:
    """As a replay asks the release that it began from."""
    return as_known(rows, Scope(FIRST_RELEASE).beside(lake.layout, source))


def replayed(lake: WebLake, chance: Random) -> tuple[pa.Table, Profiles]:
    """The same records in a new release, cut into other epochs, from nothing but what the first one says of them."""
    made = {}
    for source in (PROFILED.source, PROFILES):
        rows = pa.concat_tables(lake.told[source.name])
        rows = rows.set_column(rows.column_names.index("known"), "known", pa.nulls(len(rows), pa.string()))
        size = chance.randrange(1, len(rows) + 2)
        # In one seed of two hundred nobody said who he is: one piece, of nothing.
        pieces = [rows.slice(first, size) for first in range(0, len(rows) or 1, size)]
        made[source.name] = pa.concat_tables(as_it_knew(lake, source, it) for it in pieces)
        path = lake.layout.silver("r2", source.name)
        create(path, rows.schema, INDEXED)
        Appender(path).append(made[source.name], "a replay", 0)
    return made[EVENTS], profiles(lake, "r2")


def shown(partials: Iterable[pa.Table]) -> list[dict[str, Any]]:
    """The numbers of some partials together, over all time."""
    keys, measures = ", ".join(VIEWS_BY_PROFILE.by), VIEWS_BY_PROFILE.measures.items()
    folds = ", ".join(f"{sql} as {column}" for name, it in measures for column, sql in it.folds(name).items())
    numbers = ", ".join(f"{it.shown(name)} as {name}" for name, it in measures)
    sql = f"select {keys}, {numbers} from (select {keys}, {folds} from partials group by all)"
    every = pa.concat_tables([each.select(sorted(each.column_names)) for each in partials])
    return list(answer(sql, partials=every).to_pylist())


def oracle(lake: WebLake) -> list[dict[str, Any]]:
    with duckdb.connect(":memory:") as engine:
        engine.execute("set TimeZone = 'UTC'")
        engine.register("facts", lake.facts(EVENTS))
        engine.register("users", lake.facts(USERS))
        engine.register("sessions", pa.table({"site": pa.array([], pa.string())}))
        return list(engine.sql(web_views.tally(VIEW)).to_arrow_table().to_pylist())
