"""People hear once that something broke, not while it stays broken, and once that it is well."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from receivers import http_hook, mail_server

from penstock.ops.alerts.desk import REMIND_SECONDS, Alert, Desk
from penstock.ops.alerts.routes import desk

STALL = Alert("streams.web", "critical", "web stands still", "No epoch for 2 minutes. Records wait in the log.")


@dataclass
class Room:
    """A desk with a clock that a test turns and a wall on which its messages appear."""

    folder: Path
    time: float = 0.0
    answers: bool = True
    wall: list[str] = field(default_factory=list)

    def desk(self) -> Desk:
        return Desk(self.folder, self.send, lambda: self.time)

    def send(self, severity: str, title: str, body: str) -> bool:
        self.wall.append(title)
        return self.answers


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_what_stays_broken_is_told_once(room: Room) -> None:
    for _ in range(5):
        room.desk().broken(STALL)
    assert room.wall == ["[critical] web stands still"]


def test_what_lasts_is_told_again_after_an_hour_with_how_often(room: Room) -> None:
    room.desk().broken(STALL)
    room.time = REMIND_SECONDS
    room.desk().broken(STALL)
    assert room.wall[1:] == ["[critical] web stands still (2 times)"]


def test_what_gets_worse_is_told_at_once(room: Room) -> None:
    room.desk().broken(replace(STALL, severity="warning"))
    room.desk().broken(STALL)
    assert [title.split()[0] for title in room.wall] == ["[warning]", "[critical]"]


def test_many_days_of_a_backfill_are_one_alert_until_the_last_is_well(room: Room) -> None:
    for day in ("d1", "d2", "d3"):
        room.desk().broken(replace(STALL, member=day))
    for day in ("d3", "d1", "d2"):
        room.desk().well(STALL.key, day)
    assert [title.split()[0] for title in room.wall] == ["[critical]", "[recovered]"]


def test_a_message_that_nobody_took_is_sent_again(room: Room) -> None:
    room.answers = False
    room.desk().broken(STALL)
    room.answers = True
    room.desk().broken(STALL)
    room.desk().broken(STALL)
    assert len(room.wall) == 2


def test_well_is_silent_where_nothing_was_broken(room: Room) -> None:
    room.desk().well("streams.web")
    assert room.wall == []


def test_a_name_from_outside_cannot_leave_the_folder(room: Room) -> None:
    room.desk().broken(replace(STALL, key="../../etc/passwd"))
    assert [path.parent for path in room.folder.glob("*.json")] == [room.folder]


def test_each_severity_reaches_its_receivers_by_http_and_by_mail(tmp_path: Path) -> None:
    with http_hook() as (hook, posts), mail_server() as (mail, letters):
        (tmp_path / "alerts.conf").write_text(f"critical={mail}\ncritical,warning={hook}\n")
        desk(tmp_path).broken(STALL)
        desk(tmp_path).broken(replace(STALL, key="other", severity="warning"))
        desk(tmp_path).broken(replace(STALL, key="third", severity="info"))
        desk(tmp_path).well(STALL.key)
    titles = [post["title"] for post in posts]
    assert (len(letters), titles) == (
        2,
        [
            "penstock: [critical] web stands still",
            "penstock: [warning] web stands still",
            "penstock: [recovered] web stands still",
        ],
    )


def test_a_message_says_what_is_safe_and_where_to_look(tmp_path: Path) -> None:
    with http_hook() as (hook, posts):
        (tmp_path / "alerts.conf").write_text(f"critical={hook}\n")
        desk(tmp_path).broken(replace(STALL, links=(("Runbook", "http://example.org/streams"),)))
    assert posts[0]["message"] == f"{STALL.text}\nRunbook: http://example.org/streams"


def test_a_receiver_that_is_down_loses_no_message(tmp_path: Path) -> None:
    with http_hook() as (hook, _):
        (tmp_path / "alerts.conf").write_text(f"critical={hook}\n")
    assert not desk(tmp_path).broken(STALL)
    with http_hook() as (hook, posts):
        (tmp_path / "alerts.conf").write_text(f"critical={hook}\n")
        desk(tmp_path).broken(STALL)
    assert len(posts) == 1
