"""Brings Spark's jars for a lake on an object store, each checked against its hash: `make s3`."""

import sys
from pathlib import Path

from penstock.lake.spark_settings import STORE_JARS
from penstock.ops.setup.apart import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent, STORE_JARS))
