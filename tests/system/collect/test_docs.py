"""Every shell example of docs/collect.md works as it stands."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from penstock.collect.access import Access

PAGE = (Path(__file__).parents[3] / "docs" / "collect.md").read_text()
EXAMPLES = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: " ".join(example.split()[2:4]))
def test_an_example_works_as_it_stands(collector, tmp_path: Path, example: str) -> None:
    collector.post(b'{"visitor":"somebody was here"}')
    path = os.pathsep.join([str(Path(sys.prefix, "bin")), os.environ["PATH"]])
    environment = {
        **os.environ,
        **collector.settings.to_env(),
        "PATH": path,
        "EDGE": collector.url,
        "DIR": str(tmp_path),
    }
    done = subprocess.run(["bash", "-ec", example], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout or list(tmp_path.iterdir())


def test_the_example_of_collector_toml_is_understood(tmp_path: Path) -> None:
    (rules,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "collector.toml").write_text(rules)
    assert Access.read(tmp_path / "collector.toml").keys[0].name in tomllib.loads(rules)["keys"]
