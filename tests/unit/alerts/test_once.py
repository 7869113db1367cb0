"""Two who may find the same alert speak with one voice."""

from collections.abc import Sequence
from typing import Any

import pytest

from penstock.log import alerts
from penstock.log.alerts import Once


def alert(event: str, offset: int = 0, version: int = 1) -> dict[str, Any]:
    return {"rule": "r", "version": version, "source": "s", "event_id": event, "offset": offset}


class Topic(list[dict[str, Any]]):
    there = True

    def tell(self, told: Sequence[dict[str, Any]]) -> None:
        if not self.there:
            raise ConnectionError("no log")
        self.extend(told)


def test_whoever_comes_first_is_heard_and_the_order_stays() -> None:
    topic = Topic()
    voice = Once(topic.tell)
    voice.tell([alert("a"), alert("b")])
    voice.tell([alert("b"), alert("c"), alert("a")])
    assert [one["event_id"] for one in topic] == ["a", "b", "c"]


def test_of_one_event_logged_twice_the_first_record_is_told() -> None:
    topic = Topic()
    Once(topic.tell).tell([alert("a", 4), alert("a", 7)])
    assert [one["offset"] for one in topic] == [4]


def test_another_version_of_a_rule_is_another_alert() -> None:
    topic = Topic()
    Once(topic.tell).tell([alert("a"), alert("a", version=2)])
    assert len(topic) == 2


def test_what_the_log_did_not_take_is_told_again() -> None:
    topic = Topic()
    voice = Once(topic.tell)
    topic.there = False
    with pytest.raises(ConnectionError):
        voice.tell([alert("a")])
    topic.there = True
    voice.tell([alert("a")])
    assert len(topic) == 1


def test_it_remembers_the_newest_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "REMEMBERED", 2)
    topic = Topic()
    voice = Once(topic.tell)
    for event in ("a", "b", "c", "c", "a"):
        voice.tell([alert(event)])
    assert [one["event_id"] for one in topic] == ["a", "b", "c", "a"]
