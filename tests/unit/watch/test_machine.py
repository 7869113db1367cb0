"""What a minute's look makes of the disk and of the log."""

from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.ops.stack.trial import free_port
from penstock.ops.watch import machine
from penstock.ops.watch.machine import GIB, disk, log

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("free", "found"),
    [
        (2 * GIB, []),
        (2 * GIB - 1, [("disk_full", "warning")]),
        (GIB // 2, [("disk_full", "warning")]),
        (GIB // 2 - 1, [("disk_full", "critical")]),
    ],
    ids=["room", "little room", "just enough for a candidate", "no room"],
)
def test_a_disk_is_judged_by_the_room_that_a_build_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, found: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(9 * GIB, 9 * GIB - free, free))
    assert [(one.kind, one.severity) for one in disk(tmp_path)] == found


def test_a_log_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LOG_SECONDS", 0.5)
    (found,) = log(f"127.0.0.1:{free_port()}")
    assert (found.kind, found.severity, "does not answer" in found.text) == ("log_down", "critical", True)


class Metadata:
    """What a cluster says of one topic of two partitions, led by these brokers (-1: by none)."""

    leaders: tuple[int, int]

    def __init__(self, _: object) -> None:
        pass

    def list_topics(self, timeout: float) -> Any:
        partitions = {number: SimpleNamespace(leader=leader) for number, leader in enumerate(self.leaders)}
        return SimpleNamespace(topics={"web.events": SimpleNamespace(partitions=partitions)})


@pytest.mark.parametrize(
    ("leaders", "found"),
    [((0, 1), []), ((0, -1), ["Partitions without a leader: web.events[1]."])],
    ids=["all are led", "one is not"],
)
def test_every_partition_must_have_a_leader(
    monkeypatch: pytest.MonkeyPatch, leaders: tuple[int, int], found: list[str]
) -> None:
    monkeypatch.setattr(machine, "AdminClient", type("Cluster", (Metadata,), {"leaders": leaders}))
    assert [one.text for one in log("a cluster")] == found
