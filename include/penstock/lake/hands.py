"""Processes of this machine that work beside a job's own, without a JVM: docs/decisions/0081.

What a task of Spark's makes by itself needs of Spark a process only, and a session takes longer to start than some
hundred thousand records to shape. They are forked of one that has imported what they need, and end with the job.
"""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import forkserver, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, TypeVar, cast

from pyspark import cloudpickle

T = TypeVar("T")


class Hands:
    """So many at once; whoever asks waits. Of one that was killed everybody hears who waits for any."""

    def __init__(self, pool: ProcessPoolExecutor, number: int) -> None:
        self._pool = pool
        self.number = number

    def made(self, work: Callable[[], T]) -> T:
        """What one of them makes."""
        return self.asked(work).result()

    def asked(self, work: Callable[[], T]) -> Future[T]:
        """The same, for whoever goes on meanwhile. They take what they are asked in turn."""
        return cast("Future[T]", self._pool.submit(_made, _said(work)))

    def each(self, work: Callable[[Any], T], of: Iterable[Any]) -> Iterator[T]:
        """The same work of each, in their order."""
        said = _said(work)
        waiting = [self._pool.submit(_made, said, each) for each in of]
        return (cast(T, one.result()) for one in waiting)


def ahead(modules: Sequence[str]) -> None:
    """What hands are forked of starts now, and imports these, while the job looks at what there is to do."""
    forkserver.set_forkserver_preload([*modules])
    forkserver.ensure_running()


@contextmanager
def hands(number: int, own: Sequence[str] = ()) -> Iterator[Hands]:
    """They are there when somebody asks for them, and import meanwhile. What is still asked at the end is not done.

    `own`: what they import after what was imported `ahead`, for it is found in the folders of this job only.
    """
    pool = ProcessPoolExecutor(number, get_context("forkserver"), initializer=_end_with_the_job)
    try:
        for _ in range(number):
            pool.submit(_imported, own)
        yield Hands(pool, number)
    finally:
        pool.shutdown(cancel_futures=True)


def _said(work: Callable[..., Any]) -> bytes:
    """Functions within functions too, as Spark sends them."""
    said: bytes = cloudpickle.dumps(work)  # type: ignore[no-untyped-call]
    return said


def _made(work: bytes, *of: Any) -> Any:
    return pickle.loads(work)(*of)  # noqa: S301 - this job's own


def _imported(modules: Sequence[str]) -> None:
    for name in modules:
        import_module(name)


def _end_with_the_job() -> None:
    """One whose job was killed waits for work for ever: nobody closes what it reads from."""
    job = parent_process()
    assert job is not None
    Thread(target=_watch, args=(job.sentinel,), name="job", daemon=True).start()


def _watch(job: int) -> None:
    wait([job])
    os._exit(1)
