"""What the command lines of the project's JVMs have in common."""

import sys
import sysconfig
from pathlib import Path

# Where set-up keeps jars and archives: in the environment that they were made for.
SHARE = Path(sys.prefix, "share", "penstock")
# PySpark's own jars, as pip puts them there.
PYSPARK = Path(sysconfig.get_path("purelib"), "pyspark", "jars")

# C1 compiles at once and never again: right for what lives for seconds or minutes.
QUICK = ("-XX:TieredStopAtLevel=1",)
# The JVM would tell each time that an archive is stale, which set-up mends.
QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")


def mapped(archive: Path) -> list[str]:
    """Classes in the form in which a JVM maps them. An archive of another Java or of other jars is ignored by it."""
    return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", *QUIET] if archive.exists() else []
