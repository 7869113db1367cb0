"""Ids that are given are UUIDs of version 7, and no two are the same."""

import time
import uuid

from penstock.collect.ids import uuid7s


def test_ids_are_version_7_of_this_moment() -> None:
    before = time.time_ns() // 1_000_000
    ids = [uuid.UUID(text) for text in uuid7s(3) + uuid7s(1)]
    assert {(each.version, each.variant) for each in ids} == {(7, uuid.RFC_4122)}
    assert all(before <= each.int >> 80 <= time.time_ns() // 1_000_000 for each in ids)


def test_no_two_ids_are_the_same() -> None:
    ids = [text for _ in range(2000) for text in uuid7s(5)]
    assert len(set(ids)) == 10_000
    assert {len(text) for text in ids} == {36}


def test_a_batch_of_any_size_has_ids_of_its_own() -> None:
    ids = uuid7s(10_000)
    assert (len(ids), len(set(ids)), {len(text) for text in ids}) == (10_000, 10_000, {36})


def test_ids_of_a_request_sort_as_its_events() -> None:
    ids = uuid7s(500)
    assert ids == sorted(ids)


def test_no_ids_are_none() -> None:
    assert uuid7s(0) == []
