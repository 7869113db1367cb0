"""Facts expire and their rollups stay, whatever is built, counted or killed afterwards."""

import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from toy_lake import ToyLake, answers, fact, silver_rows, traffic

from penstock.engine import blast, expiring, retraction
from penstock.engine.conditions import BadCondition
from penstock.engine.damage import lacking
from penstock.engine.dispositions import in_time
from penstock.engine.expiring import Books, expire
from penstock.engine.leaving import leave
from penstock.engine.matching import named
from penstock.engine.posting import post
from penstock.engine.publish import Refused
from penstock.engine.rebooking import rebooked
from penstock.keys.store import Keys
from penstock.lake import exact, rewinds
from penstock.lake.layout import Layout
from penstock.lake.ledger import booked
from penstock.lake.place import place
from penstock.lake.retention import EXPIRED, Announced, kept_until
from penstock.lake.rewinds import Rewind
from penstock.model.domain import Domain
from penstock.model.retention import Retention

# Traffic is of the second to the fourth; a session or a view by key needs what happened the day before.
EMPTIED, KEPT, WHOLE = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)
DAYS = 31
NIGHT = datetime(2026, 4, 4, 3, tzinfo=UTC)
NEXT = NIGHT + timedelta(hours=2)
EPOCHS = [traffic(seed, 25) for seed in range(3)]
# Everybody goes on with what they did before the midnight up to which rollups are kept.
NEWS = [fact(f"v{who}", 2880 + minutes, amount=7) for who in range(6) for minutes in (1, 20, 700)]


def told(lake: ToyLake, *epochs: list[dict[str, Any]]) -> ToyLake:
    """Facts that come, are counted and compared with all others."""
    for each in epochs:
        lake.epoch(each)
    lake.build()
    exact.note(lake.layout, lake.release, "toy.events", len(lake.epochs) - 1)
    return lake


@pytest.fixture
def built(toy: Domain, tmp_path_factory: pytest.TempPathFactory) -> ToyLake:
    """Built once and left as it is: what every answer was before anything expired."""
    folder = tmp_path_factory.getbasetemp() / "before-expiry"
    lake = ToyLake(None, Layout(str(folder)), toy)
    if folder.exists():
        return lake
    return told(lake, *EPOCHS)


@pytest.fixture
def copy(built: ToyLake, tmp_path: Path) -> Callable[[str], ToyLake]:
    """A lake of its own with the same in it."""

    def copied(name: str) -> ToyLake:
        shutil.copytree(built.layout.root, tmp_path / name)
        epochs = [silver_rows(each, number, 25 * number) for number, each in enumerate(EPOCHS)]
        return ToyLake(None, Layout(str(tmp_path / name)), built.domain, epochs)

    return copied


@pytest.fixture
def lake(copy: Callable[[str], ToyLake]) -> ToyLake:
    return copy("lake")


def books(lake: ToyLake, now: datetime, **more: Any) -> Books:
    return Books(lake.layout, lake.release, Retention(lake.domain.sources[0], DAYS), now, **more)


@pytest.fixture
def expired(lake: ToyLake) -> ToyLake:
    for now in (NIGHT, NEXT):
        expire(books(lake, now))
    return lake


def silver(lake: ToyLake) -> str:
    return lake.layout.silver(lake.release, "toy.events")


def rows(lake: ToyLake) -> list[dict[str, Any]]:
    return DeltaTable(silver(lake)).to_pyarrow_table().sort_by("offset").to_pylist()


def first_whole(lake: ToyLake) -> date:
    """The first day whose rows still say what happened."""
    return min(row["day"] for row in rows(lake) if row["event_id"])


def kept(lake: ToyLake) -> date | None:
    return kept_until(lake.layout, lake.release, "toy.events")


LEFT = ("partition", "offset", "epoch", "day", "disposition", "reason")


def test_an_expired_row_says_only_where_its_record_is_and_what_became_of_it(built: ToyLake, expired: ToyLake) -> None:
    before, after = ([{name: row[name] for name in LEFT} for row in rows(lake)] for lake in (built, expired))
    said = {(row["who"], row["event_id"], row["happened_at"], *row["flags"]) for row in rows(expired)[:75]
            if row["day"] == EMPTIED}  # fmt: skip
    assert (after, said, first_whole(expired), kept(expired)) == (before, {(None, None, None, EXPIRED)}, KEPT, KEPT)


def test_every_answer_stays_the_same_whatever_is_built(built: ToyLake, expired: ToyLake) -> None:
    was, same = answers(built), {}
    for asked in ({}, {"days": (EMPTIED, EMPTIED)}, {"days": (EMPTIED, WHOLE)}, {"full": True}):
        expired.build(**asked)
        same[str(asked)] = answers(expired) == was
    assert set(same.values()) == {True}, same


def test_what_comes_later_is_counted_as_if_nothing_had_expired(
    expired: ToyLake, copy: Callable[[str], ToyLake]
) -> None:
    right = answers(told(copy("never"), NEWS))
    expired.epoch(NEWS)
    expired.build(full=True)
    at_once = answers(expired)
    expired.build(days=(EMPTIED, WHOLE))
    assert (at_once, answers(expired)) == (right, right)


def test_what_is_rebuilt_of_expired_days_is_not_counted_again(built: ToyLake, expired: ToyLake) -> None:
    expired.epoch([fact("v1", 5), fact("v2", 2879), fact("eve", 1500)])
    expired.build()
    assert answers(expired) == answers(built)


def test_the_books_have_the_same_counts_and_nothing_is_missing(lake: ToyLake) -> None:
    def balance() -> Any:
        post(lake.layout, lake.domain.sources, lake.release)
        return booked(lake.layout.ledger(), lake.release)[0]

    before, bronze = balance(), str(Path(lake.layout.root, "positions"))
    shutil.copytree(silver(lake), bronze)
    for now in (NIGHT, NEXT):
        expire(books(lake, now))
    assert (balance(), rebooked(lake.layout, "toy.events", "r1"), lacking(bronze, silver(lake))) == (before, 0, 0)


STEPS = ["rollups are kept", "a day is emptied", "that is written down"]


@pytest.mark.parametrize("step", range(len(STEPS)), ids=[f"before {step}" for step in STEPS])
def test_what_was_killed_goes_on_the_next_night(
    built: ToyLake, lake: ToyLake, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expire(books(lake, NIGHT))
    done: list[int] = []

    def mortal(act: Any) -> Any:
        def until_killed(*of: Any) -> Any:
            if len(done) == step:
                raise KeyboardInterrupt
            done.append(step)
            return act(*of)

        return until_killed

    with monkeypatch.context() as life, pytest.raises(KeyboardInterrupt):
        life.setattr(expiring, "empty", mortal(expiring.empty))
        life.setattr(expiring.retention, "note", mortal(expiring.retention.note))
        expire(books(lake, NEXT))
    lake.build(full=True)
    expire(books(lake, NEXT))
    assert (first_whole(lake), kept(lake), answers(lake)) == (KEPT, KEPT, answers(built))


def test_done_again_nothing_changes(expired: ToyLake) -> None:
    before = DeltaTable(silver(expired)).version()
    assert (expire(books(expired, NEXT)), DeltaTable(silver(expired)).version()) == (
        "toy.events: nothing is due",
        before,
    )


def test_a_day_is_emptied_while_the_stream_goes_on(expired: ToyLake, monkeypatch: pytest.MonkeyPatch) -> None:
    left = expiring.left

    def meanwhile(table: DeltaTable, day: date) -> pa.RecordBatchReader:
        expired.epoch(NEWS)
        return left(table, day)

    monkeypatch.setattr(expiring, "left", meanwhile)
    expiring.empty(silver(expired), KEPT)
    assert (first_whole(expired), len(rows(expired))) == (WHOLE, 75 + len(NEWS))


def behind(lake: ToyLake) -> dict[str, Any]:
    lake.epoch([fact("eve", 5)])
    exact.note(lake.layout, lake.release, "toy.events", len(lake.epochs) - 1)
    return {}


def not_compared(lake: ToyLake) -> dict[str, Any]:
    lake.epoch([fact("eve", 5)])
    return {}


def unbalanced(lake: ToyLake) -> dict[str, Any]:
    return {"unbalanced": [NIGHT]}


@pytest.mark.parametrize(
    ("disturbed", "why"),
    [
        (behind, "not yet built: toy.events_by_what"),
        (not_compared, "`close_day` has not compared all of their facts"),
        (unbalanced, "the hour of 2026-04-04 03:00 does not balance in the ledger"),
    ],
)
def test_days_wait_until_nothing_can_be_missing_from_their_rollups(lake: ToyLake, disturbed: Any, why: str) -> None:
    expire(books(lake, NIGHT))
    more = disturbed(lake)
    assert why in expire(books(lake, NEXT, **more))
    assert (kept(lake), first_whole(lake)) == (None, EMPTIED)


@pytest.mark.parametrize(
    ("nights", "told"),
    [
        ([NIGHT - timedelta(days=3)], "toy.events: nothing is due"),
        ([NIGHT, NIGHT + timedelta(minutes=50)], "toy.events: nothing is due"),
        ([NIGHT], "toy.events: days up to 2026-03-03 are announced, whose facts are rejected from 03:10 on"),
    ],
    ids=["of a young lake", "announced within the hour", "announced first"],
)
def test_nothing_goes_before_its_time(lake: ToyLake, nights: list[datetime], told: str) -> None:
    said = [expire(books(lake, now)) for now in nights]
    assert (said[-1], first_whole(lake)) == (told, EMPTIED)


def test_what_the_log_takes_after_the_announcement_is_rejected_whenever_it_is_judged(lake: ToyLake) -> None:
    announced = Announced(lake.layout, "r1", "toy.events")
    before = announced.now()
    expire(books(lake, NIGHT))
    since = NIGHT + expiring.NOTICE
    told = [
        {**fact(minutes=minutes), "logged_at": since + timedelta(seconds=seconds)}
        for minutes, seconds in ((10, -1), (10, 1), (2879, 1), (2881, 1))
    ]
    late = in_time(silver_rows(told, 0, 0), announced.now())["reason"].to_pylist()
    assert (before, late) == ((), [None, EXPIRED, EXPIRED, None])


def test_a_view_whose_rows_of_expired_days_are_gone_is_refused_and_the_others_are_built(expired: ToyLake) -> None:
    place(expired.layout.gold("r1", "toy.events_by_what")).remove()
    expired.epoch(NEWS)
    with pytest.raises(Refused, match=r"toy\.events_by_what was not built: facts up to 2026-03-03 have expired"):
        expired.build()
    assert sum(row["visits"] for row in expired.rows("toy.visits", **{"from": "2026-03-04"})) >= 6


@pytest.mark.parametrize("where", ["who = 'v1'", "amount is null"])
def test_nothing_is_stated_of_facts_whose_rollups_are_kept(expired: ToyLake, where: str) -> None:
    source = expired.domain.sources[0]
    said = named("test", source, where, "", "", "")
    planned = partial(blast.text, expired.layout, source.name, where, "", "", "")
    for state in (planned, partial(retraction.settled, expired.layout, source, said)):
        with pytest.raises(BadCondition, match=r"those of toy\.events up to 2026-03-03 have expired"):
            state()


def test_who_is_erased_leaves_the_rows_that_are_kept_by_their_name_and_no_count(
    built: ToyLake, expired: ToyLake, tmp_path: Path
) -> None:
    keys, sessions = Keys.of_home(tmp_path), expired.layout.gold("r1", "toy.sessions")
    token = keys.of("toy", {"v1", "v2"})["v1"].token
    leave(expired.layout, "r1", expired.domain.sources[0], keys, {token})
    was, now = answers(built), answers(expired)
    others = [row for row in was["toy.sessions"] if row["who"] != "v1" or row["started"].date() > KEPT]
    assert (now["toy.sessions"], now["toy.visits"]) == (others, was["toy.visits"])
    assert len(others) < len(was["toy.sessions"])
    assert "v1" not in Path(sessions, "_delta_log", f"{DeltaTable(sessions).version():020}.json").read_text()
    expired.build(full=True)
    assert answers(expired)["toy.sessions"] == others


def test_a_rewind_to_before_takes_back_that_days_have_expired(expired: ToyLake) -> None:
    back = Rewind("a", "toy", "p", "q", "test", "to see", point_at=NIGHT, done=True)
    rewinds.note(expired.layout, back)
    assert (kept(expired), list(Announced(expired.layout, "r1", "toy.events").now())) == (None, [])
