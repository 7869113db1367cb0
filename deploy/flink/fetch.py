"""Brings Apache Flink's jars, a peer of `penstock bench ingest`, each checked against its hash: `make flink`."""

import sys
from pathlib import Path

from penstock.ops.load.flink import JARS
from penstock.ops.setup.apart import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent, JARS))
