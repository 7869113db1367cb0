"""What a gate said stands in Great Expectations' own pages."""

import json
from datetime import UTC, datetime
from pathlib import Path

from penstock.engine.datadocs import build
from penstock.engine.gate import name_of
from penstock.engine.suites import suite_of
from penstock.lake.gates import Checked, record
from penstock.lake.layout import Layout
from penstock.model.domain import Domain

TABLE = "toy.numbers"


def refused(layout: Layout) -> None:
    """A verdict as a gate leaves it: everything failed."""
    asked = [name_of(each.configuration.to_json_dict()) for each in suite_of(TABLE).fresh().expectations]
    results = [
        {"expectation": name, "severity": "critical", "passed": False, "raised": "", "observed": ""} for name in asked
    ]
    told = json.dumps(results)
    record(
        layout,
        Checked(datetime.now(UTC), TABLE, "r1", False, "critical", "it fails", "candidate", "", told, "[]", told, 0.1),
    )


def test_the_last_verdict_of_a_table_has_a_page_that_is_made_once(toy: Domain, tmp_path: Path) -> None:
    layout, folder = Layout(str(tmp_path / "lake")), tmp_path / "docs"
    refused(layout)
    assert (build(layout.root, folder), build(layout.root, folder)) == ([TABLE], [])
    page = (folder / f"{TABLE}.html").read_text()
    assert (TABLE in page, "Failed" in page) == (True, True)
