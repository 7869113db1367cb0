"""Apache Flink on the same log: Kafka to Parquet by Flink SQL (flink.sql), exactly once, all of it in one JVM.

Python speaks to it over py4j, as Flink's own Python API does: no Java of ours, and only SQL is run. `make flink` brings
its jars, which are on no class path but this one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from py4j.java_gateway import JavaGateway

from penstock.jvm import PYSPARK, SHARE
from penstock.lake import spark_settings

JARS = SHARE / "jars" / "flink"
ABSENT = "Flink is not here: run make flink"
STATEMENTS = Path(__file__).with_suffix(".sql")
# Hadoop's classes, which Flink's Parquet asks for, and what writes a log: PySpark has both.
BORROWED = ("hadoop-client", "slf4j-api", "log4j-slf4j2-impl", "log4j-api", "log4j-core")
JVM = ("-Xmx2g", f"-Dlog4j2.configurationFile={Path(spark_settings.__file__).with_name('log4j2.properties')}")


def version() -> str:
    """Of the Flink whose jars are here; empty where there are none."""
    return next((jar.stem.removeprefix("flink-clients-") for jar in JARS.glob("flink-clients-*.jar")), "")


def settings(home: Path) -> dict[str, str]:
    return {
        "parallelism.default": "2",
        # As often as our epochs when little waits, and on disk as theirs are.
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.dir": f"file://{home}/flink-checkpoints",
        # Rows go from the source to the sink without a copy at each step.
        "pipeline.object-reuse": "true",
        # What fails is told; by default it would be tried for ever.
        "restart-strategy.type": "none",
        "table.local-time-zone": "UTC",
        # Only loopback is listened on.
        **dict.fromkeys(("rest.bind-address", "jobmanager.bind-host", "taskmanager.bind-host"), "127.0.0.1"),
    }


@contextmanager
def jvm(home: Path) -> Iterator[Any]:
    """A JVM with Flink on its class path, which ends with the block; what it says is in flink.log of the home."""
    borrowed = [str(jar) for name in BORROWED for jar in sorted(PYSPARK.glob(f"{name}-*.jar"))]
    with (home / "flink.log").open("ab") as said:
        gateway = JavaGateway.launch_gateway(
            classpath=":".join([*borrowed, f"{JARS}/*"]),
            javaopts=[*JVM],
            die_on_exit=True,
            redirect_stdout=said,
            redirect_stderr=said,
        )
        try:
            yield gateway
        finally:
            gateway.shutdown()
            gateway.java_process.kill()
            gateway.java_process.wait()


def copy(gateway: Any, kafka: str, topic: str, home: Path) -> None:
    """Everything that the topic holds now, to Parquet files; over when the last of them is committed."""
    flink = gateway.jvm.org.apache.flink
    chosen = flink.configuration.Configuration()
    for name, value in settings(home).items():
        chosen.setString(name, value)
    streaming = flink.table.api.EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(chosen).build()
    tables = flink.table.api.TableEnvironment.create(streaming)
    for statement in STATEMENTS.read_text().split(";\n"):
        told = {"kafka": kafka, "topic": topic, "folder": f"file://{facts(home)}"}
        running = tables.executeSql(statement.format(**told))
    # Its name is a word of Python's.
    getattr(running, "await")()


def facts(home: Path) -> Path:
    return home / "flink"


def files(home: Path) -> list[Path]:
    """What is committed; the rest has hidden names."""
    return sorted(facts(home).glob("part-*"))


def commits(home: Path) -> list[tuple[float, int]]:
    """When rows could be read, and how many: a checkpoint names what each task wrote since the one before."""
    landed: dict[str, list[tuple[float, int]]] = {}
    for file in files(home):
        checkpoint = file.name.rpartition("-")[2]
        # A file's inode changes when it gets its name.
        landed.setdefault(checkpoint, []).append((file.stat().st_ctime, pq.read_metadata(file).num_rows))
    return [(max(at for at, _ in parts), sum(rows for _, rows in parts)) for parts in landed.values()]
