"""kill -9 is a normal way to stop the streaming driver."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.killing import play, verdict
from serving import serving

from penstock.settings import Settings


@pytest.fixture
def own_log(tmp_path: Path) -> Iterator[str]:
    """A broker on which nobody else uses `web.events`."""
    with serving(tmp_path / "broker") as address:
        yield address


@pytest.mark.parametrize("seed", [41])
def test_every_row_is_right_after_the_driver_was_killed(tmp_path: Path, own_log: str, seed: int) -> None:
    settings = Settings(home=tmp_path / "home", lake=str(tmp_path / "home" / "lake"), kafka=own_log)
    settings.home.mkdir()
    assert verdict(play(settings, seed, kills=3)) == []
