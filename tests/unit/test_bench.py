"""A figure judges itself by its goal, and says how busy the machine was."""

import pytest

from penstock.ops.bench import Figure, load, names
from penstock.ops.refusal import Refusal


@pytest.mark.parametrize(
    ("ours", "peer", "goal", "met"),
    [
        (29.0, None, "<= 30 s", True),
        (31.0, None, "<= 30 s", False),
        (5.0, None, ">= 5", True),
        (10.0, 4.0, ">= 2x", True),
        (10.0, 8.0, ">= 2x", False),
        (10.0, None, None, None),
    ],
)
def test_a_goal_is_met_by_number_or_by_ratio(
    ours: float, peer: float | None, goal: str | None, met: bool | None
) -> None:
    assert Figure("startup", "seconds", ours, peer=peer, goal=goal).as_dict()["met"] is met


def test_a_figure_has_the_promised_fields_in_their_order() -> None:
    told = Figure("startup", "seconds", 1.0).as_dict()
    assert list(told) == ["name", "figure", "ours", "peer", "ratio", "goal", "met", "gate_ok", "load", "detail"]


def test_an_unknown_benchmark_is_refused_with_the_list() -> None:
    with pytest.raises(Refusal, match="Choose one of"):
        load("no_such")


def test_every_benchmark_module_can_be_run() -> None:
    assert all(callable(load(name)) for name in names())
