"""A reader finds the whole path of one event in four files or fewer, and the documentation names them."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[3]
WAY = (PROJECT / "docs" / "collect.md").read_text().partition("## One event's way")[2].partition("\n## ")[0]


def test_one_events_way_is_four_files_that_are_there() -> None:
    named = set(re.findall(r"[\w/]+\.py", WAY))
    assert 0 < len(named) <= 4
    assert [name for name in named if not (PROJECT / "include/penstock" / name).is_file()] == []


def test_what_happens_to_an_event_is_imported_from_these_files_alone() -> None:
    """`take` sends events through what it imports: nothing else of `collect` takes or gives a record."""
    named = {Path(name).name for name in re.findall(r"collect/\w+\.py", WAY)}
    folder = PROJECT / "include/penstock/collect"
    makers = {file.name for file in folder.glob("*.py") if re.search(r"-> .*\bRecord\b", file.read_text())}
    # What the spool keeps is read back by frames.py, below keeping.py.
    assert makers - {"frames.py"} <= named
