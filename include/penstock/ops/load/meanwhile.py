"""Something done beside a measurement."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def meanwhile(work: Callable[[Event], None]) -> Iterator[None]:
    """Work of a thread of its own, which is told when the block ends, and waited for."""
    over = Event()
    thread = Thread(target=work, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
