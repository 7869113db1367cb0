"""One whole stack that the tests of this folder share, as a user would start it: by `penstock up`."""

from collections.abc import Iterator

import pytest
from standing import RunningStack, environment

from penstock.ops.stack import orphans
from penstock.ops.stack.home import open_home


# Of this folder and no longer: a stack that idles beside other tests takes a quarter of a core.
@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """Started once; at the end it must stop without leaving a process."""
    home = tmp_path_factory.mktemp("stack") / "home"
    running = RunningStack(home, environment(home))
    begun = running.penstock("up", "--detach")
    try:
        assert begun.returncode == 0, begun.stdout + begun.stderr
        yield running
    finally:
        ended = running.penstock("down")
    assert "no process is left" in ended.stdout, ended.stdout + ended.stderr
    assert orphans.processes(open_home(home).stack) == []
