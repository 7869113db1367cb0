"""Judging repeats over runs gives what remembering every id in a dictionary would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine import ids
from penstock.engine.ids import Seen

# Fewer than about twenty are sorted in another way than many.
RECORDS = st.tuples(st.integers(0, 12), st.integers(0, 2))
EPOCHS = st.lists(st.lists(RECORDS, max_size=12) | st.lists(RECORDS, min_size=100, max_size=300), max_size=12)


def remembered_by(epochs: list[list[tuple[int, int]]]) -> list[str]:
    first: dict[int, int] = {}
    return [
        "new" if first.setdefault(name, content) == content and new else "same" if first[name] == content else "other"
        for epoch in epochs
        for name, content in epoch
        for new in [name not in first]
    ]


@given(EPOCHS)
def test_repeats_are_those_of_a_dictionary(epochs: list[list[tuple[int, int]]]) -> None:
    seen, judged = Seen(), []
    for epoch in epochs:
        names, contents = (np.array([one[at] for one in epoch], dtype=np.uint64) for at in (0, 1))
        duplicate, collision = seen.judge(names, contents)
        judged += [
            "same" if same else "other" if other else "new" for same, other in zip(duplicate, collision, strict=True)
        ]
        new = ~(duplicate | collision)
        seen.remember(names[new], contents[new], 0.0)
    assert judged == remembered_by(epochs)


def test_an_id_is_forgotten_a_day_later_by_the_logs_time() -> None:
    one, none = np.array([7], dtype=np.uint64), np.array([], dtype=np.uint64)
    seen = Seen()
    seen.remember(one, one, 1000.0)
    seen.remember(one + np.uint64(1), one, 1000.0 + ids.REMEMBERED_SECONDS + 1)
    assert not seen.judge(one, one)[0].any()
    assert len(seen.judge(none, none)[0]) == 0
