"""The named points of an epoch: where a process can end, or a disk be full, between two of its steps."""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.engine import archive, shape
from penstock.engine.archive import Archive
from penstock.engine.commit import Files
from penstock.engine.ids import Seen
from penstock.lake.place import Place
from penstock.lake.tablelog import LinkedLog

Act = Callable[[], object]


@dataclass(frozen=True)
class Point:
    """Before or after the nth call of a method from now on; `half`: in the middle of writing a file."""

    owner: Any
    method: str
    nth: int
    when: str

    def arm(self, act: Act, set_attribute: Callable[[Any, str, Any], object] = setattr) -> None:
        good, calls = getattr(self.owner, self.method), iter(range(1, 1_000_000))

        def cut(*arguments: Any, **named: Any) -> Any:
            mine = next(calls) == self.nth
            if mine and self.when == "before":
                act()
            if mine and self.when == "half":
                place, name, content = arguments
                good(place, name, bytes(content)[: len(content) // 2])
                act()
            done = good(*arguments, **named)
            if mine and self.when == "after":
                act()
            return done

        set_attribute(self.owner, self.method, cut)


# The first file and commit of an epoch are silver's, the others those of the views. With two days there are two files.
POINTS = {
    f"{when} {what} {nth}": Point(owner, method, nth, when)
    for what, owner, method, numbers, moments in (
        ("file", Files, "_write", (1, 5), ("before", "after")),
        ("file", Place, "write", (1, 3, 4), ("half",)),
        ("commit", LinkedLog, "append", (1, 6), ("before", "after")),
    )
    for nth in numbers
    for when in moments
}


# Steps of an epoch that a task reads by itself; of silver's, one that Spark has called done before it is committed.
LATE = {
    "silver's rows are there": Point(shape, "known", 2, "before"),
    "silver is judged": Point(shape, "balanced", 2, "after"),
}
LARGE = {
    "bronze's files are there": Point(archive, "whole", 1, "after"),
    "bronze is committed": Point(Archive, "epoch", 1, "after"),
    **LATE,
    "silver is committed": Point(Seen, "remember_facts", 2, "before"),
}


def disk_full() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
