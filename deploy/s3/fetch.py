"""Puts the jars of s3a:// beside Spark's others, each checked against its hash: `python deploy/s3/fetch.py`."""

import sys
import tempfile
from pathlib import Path

from penstock.lake.spark_settings import JARS
from penstock.ops.setup.failure import SetupFailure, run
from penstock.ops.setup.jars import sha256

HERE = Path(__file__).parent


def fetch() -> None:
    pins = dict(reversed(line.split()) for line in (HERE / "jars.sha256").read_text().splitlines())
    ivy = next(Path(sys.prefix).glob("lib/python3.*/site-packages/pyspark/jars/ivy-*.jar"))
    with tempfile.TemporaryDirectory(dir=JARS.parent) as name:
        pattern = f"{name}/[artifact]-[revision].[ext]"
        run("s3 jars", ["java", "-jar", str(ivy), "-ivy", str(HERE / "ivy.xml"), "-retrieve", pattern], HERE)
        if bad := [jar for jar, digest in pins.items() if sha256(Path(name, jar)) != digest]:
            raise SetupFailure(f"s3 jars: {bad[0]} does not have the bytes that jars.sha256 pins. None was used.")
        for jar in pins:
            Path(name, jar).rename(JARS / jar)


if __name__ == "__main__":
    fetch()
