"""A key is the same for everybody who asks, until it is destroyed; then it is in no file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.keys.store import Keys


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys.of_home(tmp_path)


def test_collectors_that_meet_somebody_at_once_agree_on_a_key(keys: Keys) -> None:
    with ThreadPoolExecutor(4) as collectors:
        met = list(collectors.map(lambda _: Keys(keys.folder).of("web", ["ann", "bob"]), range(8)))
    assert all(each == met[0] for each in met)
    assert met[0]["ann"] != met[0]["bob"]


def test_a_name_is_another_subject_in_another_domain(keys: Keys) -> None:
    assert keys.of("web", ["ann"]) != keys.of("posts", ["ann"])


def test_a_destroyed_key_is_in_no_byte_and_its_operation_is_remembered(keys: Keys) -> None:
    subject = keys.of("web", ["ann"])["ann"]
    before = keys.generation()
    keys.destroy([subject.token], "erase/1")
    assert all(subject.key not in file.read_bytes() for file in keys.folder.iterdir())
    assert (keys.keys([subject.token]), keys.tokens("web", ["ann"])) == ({}, {})
    assert keys.destroyed([subject.token], "erase/1") == {subject.token}
    assert keys.destroyed([subject.token], "erase/2") == set()
    assert keys.generation() != before


def test_who_comes_back_after_an_erasure_is_somebody_new(keys: Keys) -> None:
    old = keys.of("web", ["ann"])["ann"]
    keys.destroy([old.token], "erase/1")
    assert keys.of("web", ["ann"])["ann"].token != old.token


def test_names_are_not_kept(keys: Keys) -> None:
    keys.of("web", ["a-very-long-name"])
    assert all(b"a-very-long-name" not in file.read_bytes() for file in keys.folder.iterdir())


def test_more_names_than_one_statement_takes(keys: Keys) -> None:
    names = [f"v{number}" for number in range(1200)]
    assert len(keys.of("web", names)) == len(keys.tokens("web", names)) == 1200
