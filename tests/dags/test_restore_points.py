"""A restore point is taken each night and on demand, and names the code that was deployed by its hash."""

from collections.abc import Callable

import pytest

from penstock.lake.code import unpacked
from penstock.lake.layout import Layout
from penstock.lake.restore_points import points
from penstock.model.domain import domains
from penstock.ops.airflow import rewinds, upkeep
from penstock.ops.airflow.environment import PROJECT
from penstock.settings import Settings

TAKEN: dict[str, Callable[[], str]] = {
    "daily": upkeep.pin,
    "hand": lambda: rewinds.take("lina", "before the new tracker"),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_a_task_takes_a_point_with_the_code_that_runs(
    kind: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    layout, taken = Layout(settings.lake), TAKEN[kind]()
    (point,) = points(layout)
    assert (point.id, point.kind) == (taken, kind)
    assert set(point.releases) == set(domains())
    kept = unpacked(layout, settings.home, "web", point.code["web"]) / "domains" / "web" / "shapes.py"
    assert kept.read_text() == (PROJECT / "include" / "domains" / "web" / "shapes.py").read_text()
