"""Brings Spark's jars for a lake on an object store, each checked against its hash: `make s3`."""

import shutil
import sys
import tempfile
from pathlib import Path

from penstock.lake.spark_settings import STORE_JARS
from penstock.ops.setup.failure import SetupFailure
from penstock.ops.setup.jars import retrieve, sha256

HERE = Path(__file__).parent


def fetch() -> None:
    """Beside their place first: a folder that is there is whole."""
    pins = dict(reversed(line.split()) for line in (HERE / "jars.sha256").read_text().splitlines())
    if all(sha256(STORE_JARS / jar) == digest for jar, digest in pins.items()):
        return
    with tempfile.TemporaryDirectory(dir=STORE_JARS.parent) as name:
        retrieve(Path(sys.prefix), Path(name), HERE / "ivy.xml", "s3/[artifact]-[revision].[ext]")
        if bad := [jar for jar, digest in pins.items() if sha256(Path(name, "s3", jar)) != digest]:
            raise SetupFailure(f"s3 jars: {bad[0]} does not have the bytes that jars.sha256 pins. None was used.")
        shutil.rmtree(STORE_JARS, ignore_errors=True)
        Path(name, "s3").rename(STORE_JARS)


def main() -> int:
    try:
        fetch()
    except SetupFailure as failure:
        sys.stderr.write(f"set-up: {failure}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
