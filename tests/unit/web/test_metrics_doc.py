"""The written definitions and the declared ones are the same words."""

from pathlib import Path

import pytest

from domains.web.charts import PAGE
from domains.web.views import VIEWS
from penstock.model.page import Report
from penstock.model.view import View

DOCUMENT = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_is_written_down_in_its_own_words(view: View) -> None:
    section = DOCUMENT.partition(f"## {view.name}\n")[2].partition("\n## ")[0]
    words = [view.doc, *(f"| `{name}` | {measure.doc} |" for name, measure in getattr(view, "measures", {}).items())]
    assert [word for word in words if word not in section] == []


@pytest.mark.parametrize("report", PAGE.reports, ids=lambda report: report.name)
def test_a_report_is_written_down_in_its_own_words(report: Report) -> None:
    assert f"| `{report.name}` |" in DOCUMENT
    assert report.doc in DOCUMENT
