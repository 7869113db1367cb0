"""One epoch of one stream: its number, the query it belongs to and how long each stage of it took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Epoch:
    """`query` is the id of the checkpoint: with the number it names the epoch's commits for ever.

    `records`: how many there are by the epoch's offsets, which nobody counts who could also lose one.
    `topic`: the id of the topic that they are read from.
    """

    query: str
    number: int
    records: int
    topic: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time spent inside to a stage's seconds."""
        begun = time.perf_counter()
        yield
        self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - begun, 4)
