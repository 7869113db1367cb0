"""One definition, three plans: batch, speed, and both merged by the reader."""

import pytest
from toy_lake import ToyLake, fact, traffic


def test_a_question_is_answered_from_speed_alone(lake: ToyLake) -> None:
    lake.epoch([fact("ann", 0, amount=3), fact("bob", 1, amount=60)])
    row = lake.rows("toy.events_by_what")[0]
    assert (row["events"], row["large"], row["large_share"], row["amount"], row["who"]) == (2, 1, 0.5, 63.0, 2.0)


def test_what_is_before_the_cut_and_what_is_after_it_add_up(lake: ToyLake) -> None:
    lake.epoch([fact(minutes=0)])
    lake.build()
    lake.epoch([fact(minutes=0), fact("bob", 1)])
    answer = lake.answer("toy.events_by_what")
    assert (answer.rows["events"].to_pylist(), answer.facts, answer.provisional) == ([3], 3, 2)


@pytest.mark.parametrize("view", ["toy.events_by_what", "toy.everything", "toy.sessions", "toy.visits", "toy.now"])
def test_all_in_one_build_equals_a_build_and_what_came_after(lake: ToyLake, view: str) -> None:
    told = traffic(1, 60)
    for start in range(0, 60, 20):
        lake.epoch(told[start : start + 20])
        if start == 0:
            lake.build()
    merged = lake.rows(view)
    lake.build(full=True)
    assert lake.rows(view) == merged
