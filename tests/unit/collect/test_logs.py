"""A line of the log is one line, whatever somebody from outside wrote into it."""

import logging

import pytest

from penstock.collect.logs import OneLine


def line(message: str) -> str:
    record = logging.LogRecord("penstock", logging.INFO, __file__, 1, "refused: %s", (message,), None)
    return OneLine("%(levelname)s %(message)s").format(record)


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ("a\r\n2026 INFO forged", "a\\x0d\\x0a2026 INFO forged"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x00\x7f\x9b31m", "\\x00\\x7f\\x9b31m"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("Skåne, 東京", "Skåne, 東京"),
    ],
    ids=["new lines", "a terminal's orders", "other control characters", "unicode's ends of lines", "plain words"],
)
def test_what_a_terminal_would_obey_is_escaped(told: str, written: str) -> None:
    assert line(told) == f"INFO refused: {written}"


def test_a_failures_own_lines_are_one_line() -> None:
    try:
        raise ValueError("a\nb")
    except ValueError as error:
        record = logging.LogRecord("penstock", logging.ERROR, __file__, 1, "failed", (), (ValueError, error, None))
    assert len(OneLine("%(message)s").format(record).splitlines()) == 1
