"""The streaming driver with a fuse: it kills itself, its JVM or both at a named point. Started by killing.py.

python fused_driver.py WHOM POINT --sources web.events
"""

import os
import runpy
import signal
import sys
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.killing import EPOCH, overtaken, until
from faults.points import LARGE, LATE, POINTS

from penstock.engine import archive, shape
from penstock.lake.layout import Layout
from penstock.settings import Settings

JOB = Path(__file__).parents[2] / "spark_jobs" / "stream.py"


def main() -> None:
    whom, point, *rest = sys.argv[1:]

    def act() -> None:
        if point in LATE:
            until(lambda: overtaken(Layout(Settings.from_env().lake)), "epoch that Spark begins before silver is there")
        jvm = [child for child in psutil.Process().children() if "java" in child.name()]
        for process in jvm if whom != "python" else []:
            process.send_signal(signal.SIGKILL)
        if whom != "jvm":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            # Python outlives its JVM by what is left of the epoch: that must not be wrong either.
            signal.raise_signal(signal.SIGTERM)

    if point in LARGE:
        archive.FULL = shape.FULL = EPOCH
    (POINTS | LARGE)[point].arm(act)
    sys.argv = [str(JOB), *rest]
    runpy.run_path(str(JOB), run_name="__main__")


if __name__ == "__main__":
    main()
