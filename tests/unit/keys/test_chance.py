"""What seals a record is random bytes that were never given before."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.keys.chance import CHANCE, DRAWN_BYTES

BYTES = 12


def in_a_thread() -> bytes:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(CHANCE.draw, BYTES).result()


def in_a_child() -> bytes:
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.write(tell, CHANCE.draw(BYTES))
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(told, BYTES)


@pytest.mark.parametrize("elsewhere", (in_a_thread, in_a_child))
def test_nobody_is_given_what_somebody_else_was(elsewhere: Callable[[], bytes]) -> None:
    CHANCE.draw(BYTES)
    assert elsewhere() != CHANCE.draw(BYTES)


def test_no_bytes_are_given_twice() -> None:
    given = [CHANCE.draw(BYTES) for _ in range(DRAWN_BYTES)]
    assert (len(set(given)), {len(each) for each in given}) == (DRAWN_BYTES, {BYTES})


def test_more_than_is_drawn_at_once_may_be_asked_for() -> None:
    assert len(CHANCE.draw(2 * DRAWN_BYTES)) == 2 * DRAWN_BYTES
