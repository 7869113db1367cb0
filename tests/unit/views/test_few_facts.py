"""A build of few facts is done where there is no Java at all."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from web_lake import WebLake

from penstock.lake.layout import Layout
from penstock.ops.airflow.environment import PROJECT
from penstock.settings import Settings

JOB = PROJECT / "spark_jobs" / "build_views.py"


EVENT = {"type": "pageview", "visitor": "ada", "site": "a.example", "url": "https://a.example/"}
NOW = datetime.now(UTC)


@dataclass
class Home:
    """A home with a lake, where there is no Java."""

    lake: WebLake
    environ: Mapping[str, str]

    def tell(self) -> None:
        self.lake.tell([{**EVENT, "happened_at": NOW.isoformat()}])

    def build(self, *words: str) -> subprocess.CompletedProcess[str]:
        job = [sys.executable, JOB, "--domain=web", "--view=web.pageviews", *words]
        return subprocess.run(job, env=self.environ, capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    lake = WebLake(Layout(str(tmp_path / "lake")))
    settings = Settings(home=tmp_path, lake=lake.layout.root, kafka="")
    return Home(lake, {**os.environ, **settings.to_env(), "JAVA_HOME": str(tmp_path / "nowhere")})


def test_few_facts_are_built_without_a_session(home: Home) -> None:
    home.tell()
    ran = home.build()
    assert (ran.returncode, "published web.pageviews up to epoch 0" in ran.stdout) == (0, True), ran.stderr


def test_a_view_that_is_built_alone_is_judged_by_what_came_since_its_own_build(home: Home) -> None:
    home.tell()
    home.lake.reject({"partition": 1, "offset": n, "logged_at": NOW, "reason": "malformed"} for n in range(1_000))
    assert home.build("--accept-rejected=yes").returncode == 0
    home.tell()
    ran = home.build()
    assert (ran.returncode, "published web.pageviews up to epoch 1" in ran.stdout) == (0, True), ran.stderr
