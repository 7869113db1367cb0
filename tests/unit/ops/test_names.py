"""What nobody has is refused by every command in one sentence, with what there is; a list of nothing says so."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.ops.cli import application
from penstock.refusal import Refusal
from penstock.settings import SettingError, Settings

# Which there are depends on the path: other tests may have put a domain on it.
NO_SOURCE = "There is no source 'nope'; there are: "


@pytest.fixture(autouse=True)
def an_empty_home(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("ledger --source nope", NO_SOURCE),
        ("ledger --release r99", "There is no release 'r99'; there are: r1."),
        ("rejected --source nope", NO_SOURCE),
        ("repair --source nope --reason bad_url --why typo", NO_SOURCE),
        ("repairs --source nope", NO_SOURCE),
        ("retractions --source nope", NO_SOURCE),
        ("restatements --source nope", NO_SOURCE),
        ("checkpoints accept-loss nope", NO_SOURCE),
        ("rules try nope", "There is no rule 'nope'; there are: "),
        ("revert web --why typo", "No stack was started in"),
        ("agent nowhere.yaml", "nowhere.yaml cannot be read (No such file or directory)"),
    ],
)
def test_a_name_that_nobody_has_is_refused(asked: str, says: str) -> None:
    told = CliRunner().invoke(application(), asked.split())
    assert isinstance(told.exception, Refusal | SettingError)
    assert says in str(told.exception)


def test_a_file_that_describes_something_else_is_no_agent(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("just a sentence")
    told = CliRunner().invoke(application(), ["agent", str(file)])
    assert "it is no YAML of a name, sources and sinks" in str(told.exception)


@pytest.mark.parametrize(
    "asked",
    [
        "rejected --source web.events",
        "repairs --source web.events",
        "retractions --source web.events",
        "restatements --source web.events",
        "restore-point list",
        "erasures --domain web",
    ],
)
def test_a_list_of_nothing_says_so(asked: str) -> None:
    assert CliRunner().invoke(application(), asked.split()).stdout == "none\n"
