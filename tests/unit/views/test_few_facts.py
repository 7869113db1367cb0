"""A build of few facts is done where there is no Java at all."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from web_lake import WebLake

from penstock.lake.layout import Layout
from penstock.ops.airflow.environment import PROJECT
from penstock.settings import Settings

JOB = PROJECT / "spark_jobs" / "build_views.py"


EVENT = {"type": "pageview", "visitor": "ada", "site": "a.example", "url": "https://a.example/"}


def test_few_facts_are_built_without_a_session(tmp_path: Path) -> None:
    lake = WebLake(Layout(str(tmp_path / "lake")))
    lake.tell([{**EVENT, "happened_at": datetime.now(UTC).isoformat()}])
    settings = Settings(home=tmp_path, lake=lake.layout.root, kafka="")
    environ = {**os.environ, **settings.to_env(), "JAVA_HOME": str(tmp_path / "nowhere")}
    job = [sys.executable, JOB, "--domain=web", "--view=web.pageviews"]
    ran = subprocess.run(job, env=environ, capture_output=True, text=True, check=False)
    assert (ran.returncode, "published web.pageviews up to epoch 0" in ran.stdout) == (0, True), ran.stderr
