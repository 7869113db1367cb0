"""Brings Hadoop YARN's jars, for a cluster of one machine, each checked against its hash: `make yarn`."""

import sys
from pathlib import Path

from penstock.ops.load.yarn import JARS
from penstock.ops.setup.apart import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent, JARS))
