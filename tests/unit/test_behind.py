"""What an epoch leaves behind is done before the next one goes on, and never lost in silence."""

import threading

import pytest

from penstock.engine.behind import Behind


def fail() -> None:
    raise ValueError("the disk is full")


def test_the_next_work_waits_for_the_one_before() -> None:
    done, first = [], threading.Event()
    behind = Behind()
    behind.leave(lambda: done.append(first.wait(10)))
    first.set()
    behind.leave(lambda: done.append("second"))
    behind.settle()
    assert done == [True, "second"]


def test_what_went_wrong_is_raised_to_whoever_comes_next_until_it_is_dropped() -> None:
    behind, done = Behind(), []
    behind.leave(fail)
    with pytest.raises(ValueError, match="disk is full"):
        behind.settle()
    with pytest.raises(ValueError, match="disk is full"):
        behind.leave(lambda: done.append("after what failed"))
    behind.drop()
    behind.leave(lambda: done.append("anew"))
    behind.settle()
    assert done == ["anew"]


def test_a_look_does_not_wait_and_does_not_miss_a_failure() -> None:
    behind, go = Behind(), threading.Event()
    behind.leave(lambda: fail() if go.wait(10) else None)
    behind.check()
    go.set()
    with pytest.raises(ValueError, match="disk is full"):
        while True:
            behind.check()


def test_a_stop_waits_and_leaves_what_failed_to_the_next_start() -> None:
    behind = Behind()
    behind.leave(fail)
    behind.drop()
    behind.check()


def test_it_is_idle_when_all_is_done_and_well() -> None:
    behind, go = Behind(), threading.Event()
    behind.leave(lambda: go.wait(10))
    assert not behind.idle
    go.set()
    behind.settle()
    assert behind.idle
    behind.leave(fail)
    with pytest.raises(ValueError, match="disk is full"):
        behind.settle()
    assert not behind.idle
