"""Who can be erased, and in which words everything else is refused. Nothing is destroyed by asking."""

import pytest

from penstock.engine.naming import CannotErase
from penstock.engine.theirs import asked, checked
from penstock.keys.store import Keys
from penstock.lake import releases
from penstock.lake.layout import Layout
from penstock.model.domain import Domain
from penstock.settings import Settings


@pytest.fixture
def token(settings: Settings) -> str:
    return Keys.of_home(settings.home).of("toy", ["ann"])["ann"].token.hex()


@pytest.mark.parametrize("subjects", ("", "ann", "0123", "G" * 32, f"{'a' * 32} ann"))
def test_names_are_refused_before_they_are_anywhere(toy: Domain, subjects: str) -> None:
    with pytest.raises(CannotErase, match="32 hexadecimal digits"):
        asked("toy", subjects)


def test_a_domain_that_there_is_not(toy: Domain) -> None:
    with pytest.raises(CannotErase, match="no domain 'tuy'"):
        asked("tuy", "a" * 32)


def test_a_subject_that_nobody_knows_stops_the_whole_erasure(toy: Domain, settings: Settings, token: str) -> None:
    with pytest.raises(CannotErase, match=f"no key is known for 1 of 2 subjects: {'a' * 32}"):
        checked(settings, asked("toy", f"{token}, {'a' * 32}", "erase/1"))


def test_an_erasure_that_was_killed_may_go_on_and_another_one_may_not(
    toy: Domain, settings: Settings, token: str
) -> None:
    Keys.of_home(settings.home).destroy([bytes.fromhex(token)], "erase/1")
    checked(settings, asked("toy", token, "erase/1"))
    with pytest.raises(CannotErase, match="no key is known"):
        checked(settings, asked("toy", token, "erase/2"))


def test_it_waits_for_nothing_that_is_being_built(toy: Domain, settings: Settings, token: str) -> None:
    row = releases.Row("toy", "r2", releases.BUILDING)
    releases.commit(Layout(settings.lake), "toy", lambda now: [row])
    with pytest.raises(CannotErase, match="r2 of toy is being built"):
        checked(settings, asked("toy", token, "erase/1"))
