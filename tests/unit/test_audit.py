"""The audit tells what was done, once, newest first."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from penstock.lake.audit import Entry, entries, record
from penstock.lake.layout import Layout


def switched(operation: str) -> Entry:
    return Entry(operation, "switch", "web", "lina", "the rule was wrong", "omar", {"release": "r1"}, {"release": "r2"})


def test_an_operation_that_runs_again_is_told_once(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    assert [record(layout, switched("switch/1")) for _ in range(2)] == [True, False]
    assert [(each.who, each.approved_by, each.after) for each in entries(layout)] == [
        ("lina", "omar", {"release": "r2"})
    ]


def test_operations_that_are_recorded_at_once_are_all_there(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    with ThreadPoolExecutor(4) as at_once:
        written = list(at_once.map(lambda number: record(layout, switched(f"switch/{number % 6}")), range(12)))
    told = [each.operation for each in entries(layout, about="web")]
    assert (sum(written), sorted(told)) == (6, [f"switch/{number}" for number in range(6)])
