"""A sealed record opens with the keys of all whom it names, and with nothing less."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from domains.web.model import EVENTS
from penstock.collect.envelope import Sealing
from penstock.collect.registry.reading import Reading
from penstock.collect.registry.schemas import Registry
from penstock.keys.sealing import AGENT, Opener, Sealers, whom
from penstock.keys.store import Keys
from penstock.log.producer import Record
from penstock.model.record import SUBJECTS
from penstock.model.source import Field, Source

PLAIN = Source("toy.weather", key="place", fields=(Field("place"), Field("rain", "double")), reasons=())


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys.of_home(tmp_path)


def sealed(keys: Keys, source: Source, *events: dict[str, Any]) -> list[Record]:
    """What the edge would put on the log."""
    value, headers = b'{"plain": true}', {"event_id": b"e1", "user_agent": b"Mozilla/5.0"}
    records = [Record(source.name, value, b"v1", headers) for _ in events]
    sealing = Sealing(Sealers(keys), Reading(Registry("")))
    return asyncio.run(sealing.sealed(source, records, [(at, value, event) for at, event in enumerate(events)]))


def opens(keys: Keys, record: Record) -> tuple[bytes, bytes] | None:
    subjects = record.headers[SUBJECTS]
    assert isinstance(subjects, bytes)
    return Opener(keys, [subjects]).opened(record.value, subjects)


def test_a_record_has_no_plain_byte_and_opens_as_it_came(keys: Keys) -> None:
    (record,) = sealed(keys, EVENTS, {"visitor": "v1", "user": "u1"})
    assert (b"plain" in record.value, b"user_agent" in record.headers, record.key == b"v1") == (False, False, False)
    assert opens(keys, record) == (b'{"plain": true}', b"Mozilla/5.0")


@pytest.mark.parametrize("erased", ("v1", "u1"))
def test_whoever_it_names_can_end_it(keys: Keys, erased: str) -> None:
    (record,) = sealed(keys, EVENTS, {"visitor": "v1", "user": "u1"})
    keys.destroy(keys.tokens("web", [erased]).values(), "erase/1")
    assert opens(keys, record) is None


def test_others_are_not_ended_by_it(keys: Keys) -> None:
    records = sealed(keys, EVENTS, {"visitor": "v1", "user": "u1"}, {"visitor": "v1"}, {"visitor": "v2", "user": "u1"})
    keys.destroy(keys.tokens("web", ["u1"]).values(), "erase/1")
    assert [opens(keys, record) is None for record in records] == [True, False, True]


def test_one_sender_keeps_one_key_on_the_log_so_that_order_is_kept(keys: Keys) -> None:
    first, second = sealed(keys, EVENTS, {"visitor": "v1"}, {"visitor": "v1", "user": "u1"})
    assert first.key == second.key


def test_a_collector_forgets_keys_that_were_destroyed(keys: Keys) -> None:
    async def twice() -> list[Record]:
        sealing = Sealing(Sealers(keys), Reading(Registry("")))
        event = (0, b"{}", {"visitor": "v1"})
        first = await sealing.sealed(EVENTS, [Record(EVENTS.name, b"{}", b"v1", {})], [event])
        keys.destroy(keys.tokens("web", ["v1"]).values(), "erase/1")
        return first + await sealing.sealed(EVENTS, [Record(EVENTS.name, b"{}", b"v1", {})], [event])

    before, after = asyncio.run(twice())
    assert (opens(keys, before), opens(keys, after)) == (None, (b"{}", b""))


def test_a_source_without_personal_fields_is_left_as_it_is(keys: Keys) -> None:
    (record,) = sealed(keys, PLAIN, {"place": "Oslo"})
    assert (record.value, record.headers.get(SUBJECTS)) == (b'{"plain": true}', None)
    assert not keys.folder.exists()


@pytest.mark.parametrize(
    ("event", "names"),
    [
        ({"visitor": "v1", "user": "u1"}, ("v1", "u1")),
        ({"visitor": "v1", "user": "v1"}, ("v1",)),
        ({"visitor": 7, "user": None}, ("7",)),
        ({"visitor": ["v1"]}, ("",)),
        ({}, ("",)),
    ],
)
def test_whom_an_event_names(event: dict[str, Any], names: Sequence[str]) -> None:
    assert whom(EVENTS, event) == ("web", names)


class Watched(Keys):
    """Counts who looks for erasures."""

    looks = 0

    def generation(self) -> int:
        self.looks += 1
        return super().generation()


def test_one_look_for_erasures_is_for_all_that_is_sealed_at_once_and_for_nothing_later(tmp_path: Path) -> None:
    keys = Watched(tmp_path)
    sealers = Sealers(keys)
    with sealers.at_once():
        for _ in range(3):
            sealers.known()
    assert keys.looks == 1
    sealers.known()
    assert keys.looks == 2


class Unreadable(Keys):
    def generation(self) -> int:
        raise PermissionError(self.folder)


def test_each_that_is_sealed_at_once_is_told_where_nobody_can_look(tmp_path: Path) -> None:
    sealers = Sealers(Unreadable(tmp_path))
    with sealers.at_once(), pytest.raises(PermissionError):
        sealers.known()


def test_a_user_agent_is_sealed_in_each_record_of_a_request_and_in_the_clear_on_none(keys: Keys) -> None:
    records = sealed(keys, EVENTS, {"visitor": "v1"}, {"visitor": "v2"})
    assert [(AGENT in record.headers, len(record.headers)) for record in records] == [(False, 2)] * 2
    assert [opens(keys, record) for record in records] == [(b'{"plain": true}', b"Mozilla/5.0")] * 2
