"""kill -9 is a normal way to stop a replay: asked again, it goes on, and its rows are those of the live release."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession
from toy_code import TOY
from toy_log import ToyLog, answers, silver, traffic

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import READY, registry
from penstock.model.domain import Domain
from penstock.settings import Settings

FULL = bool(os.environ.get("PENSTOCK_FULL"))
SEEDS, KILLS = range(5), 4
RECORDS, EPOCHS = 200, 4
PATIENCE = 300.0
# Epochs of few records, so that there are many of them; and as nice as the tests beside it, which it would wait for.
REPLAY = f"""
import runpy, sys
from penstock.engine import replay
from penstock.lake import session
session.give_way = lambda pid: None
replay.EPOCH_RECORDS = {RECORDS // EPOCHS}
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
JOB = Path(__file__).parents[2] / "spark_jobs" / "replay.py"
ASKED = ("--domain=toy", f"--code={TOY}", "--operation=replay/1", "--who=lina", "--why=kills", "--cores=2")


def started(settings: Settings) -> "subprocess.Popen[bytes]":
    said = (settings.home / "replay.log").open("ab")
    environment = {**os.environ, **settings.to_env(), "PYTHONPATH": str(TOY)}
    return subprocess.Popen([sys.executable, "-c", REPLAY, str(JOB), *ASKED], env=environment, stdout=said, stderr=said)


def killed(settings: Settings, table: str, chance: random.Random) -> None:
    """Python, the JVM or both die a moment after the replay has come further than it was."""
    before, process = version(table), started(settings)
    limit = time.monotonic() + PATIENCE
    while version(table) <= before and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(chance.random() * 3)
    if process.poll() is not None:
        return
    whom = chance.choice(["python", "jvm", "both"])
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for each in family:
        if whom == "both" or ("java" in each.name()) == (whom == "jvm"):
            each.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    psutil.wait_procs(family, PATIENCE)


def version(table: str) -> int:
    opened = open_table(table)
    return -1 if opened is None else int(opened.version())


@pytest.mark.skipif(not FULL, reason="a session of Spark's a death, minutes: make faults")
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_replay_that_was_killed_at_any_moment_ends_with_the_live_release_s_rows(
    spark: SparkSession, toy: Domain, settings: Settings, broker: str, seed: int
) -> None:
    own, layout, chance = replace(settings, kafka=broker), Layout(settings.lake), random.Random(seed)  # noqa: S311
    log, told = ToyLog(spark, layout), traffic(seed, RECORDS)
    for start in range(0, RECORDS, RECORDS // EPOCHS):
        log.take(told[start : start + RECORDS // EPOCHS])
    for _ in range(KILLS):
        killed(own, layout.silver("r2", log.source), chance)
    last = started(own)
    assert last.wait(PATIENCE) == 0, (own.home / "replay.log").read_text()[-3000:]
    assert registry(layout, "toy").get("r2").state == READY
    assert silver(log, "r2").equals(silver(log, "r1"))
    assert answers(log, "r2") == answers(log, "r1")
