"""A real Kafka broker (KRaft, broker and controller in one) from its Maven jars, for one machine."""

import subprocess
import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path

from penstock.jvm import QUICK, SHARE, mapped

JARS = SHARE / "jars" / "broker"
# The classes of a broker that starts and takes records; made by `python -m penstock.ops.stack.warmup`.
ARCHIVE = SHARE / "broker.jsa"

# A broker of one machine holds few connections and small batches: 256 MB is what it settles at under
# full load of two cores; the serial collector has the smallest footprint there.
HEAP = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-Xss512k")
FULL = ("-XX:TieredStopAtLevel=4",)


@dataclass(frozen=True)
class Broker:
    """One node. `voters` names every controller as `id@host:port`; alone, the node is its own quorum."""

    folder: Path
    port: int
    controller_port: int
    node: int = 1
    voters: str = ""
    replication: int = 1
    # It will live for minutes, and often comes back: docs/decisions/0021.
    quick: bool = False

    def properties(self) -> str:
        in_sync = max(1, self.replication - 1)
        settings = {
            "process.roles": "broker,controller",
            "node.id": self.node,
            "controller.quorum.voters": self.voters or f"{self.node}@127.0.0.1:{self.controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self.folder / "data",
            # A topic exists because a source was declared, never because somebody misspelt one.
            "auto.create.topics.enable": "false",
            # Time of arrival is the broker's: monotonic in each partition, so an hour is a range of offsets.
            "log.message.timestamp.type": "LogAppendTime",
            "log.retention.hours": 168,
            "default.replication.factor": self.replication,
            "min.insync.replicas": in_sync,
            "offsets.topic.replication.factor": self.replication,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": self.replication,
            "transaction.state.log.min.isr": in_sync,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.replication.factor": self.replication,
            "share.coordinator.state.topic.min.isr": in_sync,
            "group.initial.rebalance.delay.ms": 0,
            # A node alone that was killed waits for its own session to end before it may come back: 9 s by default. Of
            # several, a session that is too short moves leaders for nothing.
            "broker.session.timeout.ms": 9_000 if self.voters else 4_000,
            "broker.heartbeat.interval.ms": 2_000 if self.voters else 500,
            "num.network.threads": 2,
            "num.io.threads": 4,
            "log.cleaner.dedupe.buffer.size": 8_388_608,
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())

    def prepare(self) -> None:
        """Writes the settings and formats the folder once. Formatting keeps a folder that has data."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._config().write_text(self.properties())
        if (self.folder / "data" / "meta.properties").exists():
            return
        cluster = self._cluster()
        subprocess.run(
            [*self._java(*QUICK), "kafka.tools.StorageTool", "format", "--cluster-id", cluster,
             "--config", str(self._config()), "--ignore-formatted"],
            check=True, capture_output=True,
        )  # fmt: skip

    def command(self, *options: str) -> list[str]:
        """`options`: of the JVM, beside those that it always gets."""
        return [*self._java(*(QUICK if self.quick else FULL), *options), "kafka.Kafka", str(self._config())]

    def _config(self) -> Path:
        return self.folder / "broker.properties"

    def _java(self, *options: str) -> list[str]:
        log4j = Path(__file__).with_name("log4j2.yaml")
        return ["java", *HEAP, *options, *mapped(ARCHIVE), f"-Dlog4j2.configurationFile={log4j}", "-cp", f"{JARS}/*"]

    def _cluster(self) -> str:
        """Nodes of one quorum share a cluster id, so it is made from the list of voters."""
        digest = uuid.uuid5(uuid.NAMESPACE_OID, self.voters or str(uuid.uuid4())).bytes
        # The highest bit off: an id that begins with a dash would be taken for an option.
        return urlsafe_b64encode(bytes([digest[0] & 0x7F]) + digest[1:]).decode().rstrip("=")
