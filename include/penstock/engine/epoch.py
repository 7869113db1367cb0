"""One epoch of one stream: its number, the query it belongs to and how long each stage of it took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from penstock.engine.apart import Task


@dataclass(frozen=True)
class Epoch:
    """`query` is the id of the checkpoint: with the number it names the epoch's commits for ever.

    `records`: how many there are by the epoch's offsets, which nobody counts who could also lose one.
    `topic`: the id of the topic that they are read from. `held`: counts the records themselves, one by one.
    `read`: so many tasks at most that bring them without Spark, in turn, where they are enough to be worth a task.
    """

    query: str
    number: int
    records: int
    topic: str = ""
    held: Callable[[], int] | None = None
    read: Callable[[int], list[Task]] | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def expected(self, rows: int) -> int:
        """How many records these rows must be of: transactions leave holes, so in doubt the log itself is counted."""
        return self.records if self.held is None or rows == self.records else self.held()

    def left(self) -> "Epoch":
        """The same for whoever goes on with it in another thread: what it takes there is not this one's to say."""
        return replace(self, seconds={})

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time spent inside to a stage's seconds."""
        begun = time.perf_counter()
        yield
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - begun, 4)
