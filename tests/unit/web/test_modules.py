"""The console has no build step, so nothing but the browser would notice a name that is not there."""

import re
from pathlib import Path

import pytest

import penstock.serve

CONSOLE = Path(penstock.serve.__file__).parent / "console"
MODULES = {file.name: file.read_text() for file in CONSOLE.glob("*.js")}
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class|let) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_what_a_module_takes_the_other_gives(name: str) -> None:
    taken = [(one.strip(), of) for names, of in IMPORT.findall(MODULES[name]) for one in names.split(",")]
    assert [(one, of) for one, of in taken if one not in EXPORT.findall(MODULES.get(of, ""))] == []


def test_every_module_is_on_its_way_before_it_is_asked_for() -> None:
    index = (CONSOLE / "index.html").read_text()
    assert [name for name in MODULES if f'/console/{name}"' not in index] == []


def test_every_module_that_is_preloaded_is_there() -> None:
    named = re.findall(r"/console/([\w.]+\.js)", (CONSOLE / "index.html").read_text())
    assert sorted(named) == sorted(MODULES)
