"""How many tasks an epoch is worth, and that nothing of it is left out between them."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.engine.progress import Progress
from penstock.engine.stream import APART, Stream
from penstock.log import reading


@pytest.mark.parametrize(
    ("records", "most", "tasks"),
    [(APART, 2, 1), (2 * APART - 1, 2, 1), (2 * APART, 2, 2), (5 * APART, 2, 2), (5 * APART, 1, 1), (5 * APART, 9, 5)],
)
def test_no_task_has_too_few_records_and_none_is_left_out(tmp_path: Path, records: int, most: int, tasks: int) -> None:
    job = cast(Any, SimpleNamespace(source=SimpleNamespace(name="web.events")))
    made = Stream(job, "broker", tmp_path, Progress("shape-web.events", "r1"))._tasks({0: (5, 5 + records)}, most)
    parts = [cast("partial[Any]", each).args[2][0] for each in made]
    assert [cast("partial[Any]", each).func for each in made] == [reading.read] * tasks
    assert [parts[0][0], *(end for _, end in parts)] == [*(begin for begin, _ in parts), 5 + records]
