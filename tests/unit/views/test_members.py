"""Sets made of sets: what a view may say of its thetas, and that the numbers are those of the sets."""

import random

import pyarrow as pa
import pytest
from laws import asked

from penstock.lake import sketches
from penstock.model.measures import members

SETS = {
    "a and b": lambda a, b, c: a & b,
    "a or c": lambda a, b, c: a | c,
    "a and not b": lambda a, b, c: a - b,
    "a and b and not c": lambda a, b, c: a & b - c,
    "not c and (a or b)": lambda a, b, c: (a | b) - c,
    "(a or b) and not (b and c)": lambda a, b, c: (a | b) - (b & c),
}


@pytest.mark.parametrize("said", SETS)
def test_members_of_sets_are_counted_exactly_while_the_sets_are_small(said: str) -> None:
    chance = random.Random(said)  # noqa: S311
    for _ in range(20):
        sets = [set(chance.sample([f"v{number}" for number in range(40)], chance.randrange(30))) for _ in "abc"]
        row = {f"{name}__theta": sketches.theta_sketch(sorted(each)) for name, each in zip("abc", sets, strict=True)}
        told = asked(f"select {members(said).show} as n from rows", pa.Table.from_pylist([row]))  # noqa: S608
        assert told["n"].to_pylist() == [len(SETS[said](*sets))]


def test_a_set_that_an_older_file_lacks_is_empty() -> None:
    rows = pa.table({"a__theta": [sketches.theta_sketch(["x", "y"])], "b__theta": pa.array([None], pa.binary())})
    assert asked(f"select {members('a and not b').show} as n from rows", rows)["n"].to_pylist() == [2]  # noqa: S608


@pytest.mark.parametrize("said", ["not a", "a and", "a + b", "a or not b", "not a and not b", "1 and a", "f(a)"])
def test_a_set_of_everybody_else_is_refused_with_what_is_allowed(said: str) -> None:
    with pytest.raises(ValueError, match="and not"):
        members(said)
