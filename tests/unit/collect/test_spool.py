"""The spool keeps what it was given through torn tails, damage, full disks and dead neighbours."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.collect.frames import Damaged, packed, records
from penstock.collect.spool import Spool, SpoolFull
from penstock.log.producer import Record

LIMIT = 1_000_000


def record(number: int = 1, size: int = 20) -> Record:
    return Record("web.events", b"v" * size, b"key", {"event_id": str(number).encode()})


def spooled(folder: Path, *groups: list[Record]) -> Spool:
    async def fill() -> Spool:
        spool = Spool(folder, LIMIT)
        await asyncio.gather(*(spool.append(group) for group in groups))
        return spool

    return asyncio.run(fill())


def test_records_come_back_in_the_order_they_were_given(tmp_path: Path) -> None:
    given_ = [record(number) for number in range(10)]
    spool = spooled(tmp_path, given_[:4], given_[4:])
    (segment,) = spool.segments()
    assert list(records(segment)) == given_


@settings(deadline=None)
@given(cut=st.integers(min_value=0, max_value=200))
def test_a_torn_tail_ends_a_segment_at_its_last_whole_frame(tmp_path_factory, cut: int) -> None:
    frames = [packed(record(number)) for number in range(3)]
    whole = b"".join(frames)
    segment = tmp_path_factory.mktemp("torn") / "1.seg"
    segment.write_bytes(whole[: len(whole) - min(cut, len(whole))])
    kept = [int(record_.headers["event_id"] or 0) for record_ in records(segment)]
    assert kept == list(range((len(whole) - min(cut, len(whole))) // len(frames[0])))


def test_damage_before_the_end_is_never_taken_for_the_end(tmp_path: Path) -> None:
    (segment,) = spooled(tmp_path, [record(1), record(2)]).segments()
    data = bytearray(segment.read_bytes())
    data[20] ^= 1
    segment.write_bytes(data)
    with pytest.raises(Damaged):
        list(records(segment))


def test_a_full_spool_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    async def overfill() -> Spool:
        spool = Spool(tmp_path, 500)
        await spool.append([record(1, 300)])
        with pytest.raises(SpoolFull):
            await spool.append([record(2, 300)])
        return spool

    assert len(list(records(asyncio.run(overfill()).segments()[0]))) == 1


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    """/dev/full fails every write as a full disk does."""

    async def fail() -> Spool:
        spool = Spool(tmp_path, LIMIT)
        await spool.append([record(1)])
        segment = spool.segments()[0]
        before = segment.read_bytes()
        await spool.close_all()
        spool._open, spool._file = segment, __import__("os").open("/dev/full", 1)
        with pytest.raises(SpoolFull):
            await spool.append([record(2)])
        assert segment.read_bytes() == before
        return spool

    asyncio.run(fail())


def test_two_collectors_never_share_a_slot_and_the_living_inherit(tmp_path: Path) -> None:
    first, second = spooled(tmp_path, [record(1)]), spooled(tmp_path, [record(2)])
    assert first.slot != second.slot
    assert first.adopt() == 0
    second.close()
    assert first.adopt() > 0
    kept = [record_ for segment in first.segments() for record_ in records(segment)]
    assert sorted(str(one.headers["event_id"]) for one in kept) == ["b'1'", "b'2'"]
