"""The written definitions and the declared ones are the same words."""

from pathlib import Path

import pytest

from domains.web.views import VIEWS
from penstock.model.view import Sessions, Tally, View

DOCUMENT = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_is_written_down_in_its_own_words(view: View) -> None:
    assert isinstance(view, Tally | Sessions)
    section = DOCUMENT.partition(f"## {view.name}\n")[2].partition("\n## ")[0]
    words = [view.doc, *(f"| `{name}` | {measure.doc} |" for name, measure in view.measures.items())]
    assert [word for word in words if word not in section] == []
