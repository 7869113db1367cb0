"""A process that dies, or that something happens to, before an epoch is committed."""

from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.commit import Appender
from penstock.lake.tablelog import LinkedLog, Written


def dies_at(epoch: int) -> Callable[..., bool]:
    """The process dies before this epoch is committed."""
    return before(epoch, dies)


def dies(*_: Any, **__: Any) -> str:
    raise KeyboardInterrupt


def before(epoch: int, happens: Callable[[], object]) -> Callable[..., bool]:
    """What happens before an epoch is committed."""
    add = Appender.add

    def adding(table: Appender, files: Sequence[Written], query: str, number: int, **note: Any) -> bool:
        if number == epoch:
            happens()
        return add(table, files, query, number, **note)

    return adding


def nothing_is_committed(log: LinkedLog, _: str) -> int:
    """In place of what a log says of a transaction: whoever starts again would commit it once more."""
    log._follow()
    return -1
