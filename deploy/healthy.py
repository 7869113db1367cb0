"""Exit status 0 when an address answers; for health checks in images that have no curl."""

import sys
from urllib.request import urlopen

with urlopen(sys.argv[1], timeout=2) as answer:  # noqa: S310
    sys.exit(answer.status != 200)
