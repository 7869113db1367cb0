"""Ids that are given are UUIDs of version 7, and no two are the same."""

import os
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

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


def in_a_thread() -> str:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(uuid7s, 1).result()[0]


def in_a_child() -> str:
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(tell, uuid7s(1)[0].encode())
        finally:
            os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    with os.fdopen(told) as said:
        return said.read()


@pytest.mark.parametrize("elsewhere", (in_a_thread, in_a_child))
def test_nobody_counts_on_from_where_somebody_else_was(elsewhere: Callable[[], str], monkeypatch) -> None:
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now)
    (mine,) = uuid7s(1)
    assert elsewhere()[:33] != mine[:33] == uuid7s(1)[0][:33]
