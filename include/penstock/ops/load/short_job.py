"""A job of a moment, for `penstock bench submit`: a thousand rows into a Delta table, and what that alone took.

    python short_job.py FILE

Writes to FILE, as JSON, when Python began, when the session was open and when the rows were there.
"""

import json
import sys
import time
from pathlib import Path


def main() -> int:
    began = time.time()
    from penstock.lake.session import open_session
    from penstock.settings import Settings

    settings = Settings.from_env()
    spark = open_session(settings, "short", short=True)
    opened = time.time()
    spark.range(1_000).write.format("delta").mode("append").save(f"{settings.lake}/short")
    Path(sys.argv[1]).write_text(json.dumps({"began": began, "opened": opened, "done": time.time()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
