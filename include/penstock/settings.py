"""Every setting of the project, read once from the environment, in one place.

May be imported by everything; imports only the standard library.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What other programs read under a name of their own: delta-rs and Arrow look for these, others for who started a job,
# OpenTelemetry's exporters for where to send.
STANDARD = {
    "store": "AWS_ENDPOINT_URL",
    "store_region": "AWS_REGION",
    "started_by": "OPENLINEAGE_PARENT_ID",
    "metrics": "OTEL_EXPORTER_OTLP_ENDPOINT",
}

# Of hours or days: no calendar ends before.
MOST = 100_000


class SettingError(ValueError):
    """A setting has a value that cannot work; the message says which one and what would."""


@dataclass(frozen=True)
class Settings:
    """Where things are and how they are reached. Field names are `PENSTOCK_<NAME>` in lower case."""

    home: Path
    lake: str
    kafka: str
    spark_master: str = "local[2]"
    # The address that collector and serve listen on: loopback, until a container or a proxy asks for another.
    listen: str = "127.0.0.1"
    collector_port: int = 8090
    serve_port: int = 8091
    airflow_port: int = 8080
    # Where the other parts ask serve and Airflow; empty: at their ports on this machine. Containers name their hosts.
    serve_url: str = ""
    airflow_url: str = ""
    kafka_port: int = 9092
    # Empty: Airflow's tables are in SQLite under the home. Else an SQLAlchemy address of PostgreSQL.
    database: str = ""
    # Where a lake at s3a://… is, when not at Amazon: http://127.0.0.1:9000, say. Its keys stay in the environment.
    store: str = ""
    store_region: str = "us-east-1"
    # A file in MaxMind's format by which collectors tell country and region from an address; empty: they do not.
    places: str = ""
    # Where the streaming driver shows Spark's own pages; 0: nowhere.
    spark_ui_port: int = 0
    # Hours that one streaming driver runs before a fresh one takes over.
    shift_hours: float = 6.0
    # Sources with a streaming driver of their own: `clicks=web.events orders=orders`; all others share one.
    stream_groups: str = ""
    # How Spark's JVMs compile: `full` for stacks that live for hours, `quick` for those that live for minutes.
    compiler: str = "full"
    # Days that a release which nobody reads is kept up: so long one may go back to it.
    revert_days: float = 7.0
    # Facts that are not kept for ever: `silver/orders=400` for so many days, rollups of them for ever.
    retention: str = ""
    # Who hears what reads and writes what: empty, a file in the home; else a server's address, or whatever else
    # OpenLineage can send to, in its own JSON.
    lineage: str = ""
    # Who hears Airflow's own metrics, by OpenTelemetry over HTTP: http://HOST:4318, say. Empty: nobody.
    metrics: str = ""
    # Whose doing a job is, in its stories: a task's namespace, name and run, with slashes between.
    started_by: str = ""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """The settings of this process. Called once, in a main."""
        home = Path(environ.get("PENSTOCK_HOME", ".penstock")).absolute()
        kafka_port = _port(environ, "PENSTOCK_KAFKA_PORT", cls.kafka_port)
        return cls(
            home=home,
            lake=environ.get("PENSTOCK_LAKE", str(home / "lake")),
            kafka=environ.get("PENSTOCK_KAFKA", f"127.0.0.1:{kafka_port}"),
            spark_master=environ.get("PENSTOCK_SPARK_MASTER", cls.spark_master),
            listen=environ.get("PENSTOCK_LISTEN", cls.listen),
            collector_port=_port(environ, "PENSTOCK_COLLECTOR_PORT", cls.collector_port),
            serve_port=_port(environ, "PENSTOCK_SERVE_PORT", cls.serve_port),
            airflow_port=_port(environ, "PENSTOCK_AIRFLOW_PORT", cls.airflow_port),
            serve_url=_url(environ, "PENSTOCK_SERVE_URL"),
            airflow_url=_url(environ, "PENSTOCK_AIRFLOW_URL"),
            kafka_port=kafka_port,
            spark_ui_port=_port(environ, "PENSTOCK_SPARK_UI_PORT", cls.spark_ui_port, least=0),
            database=environ.get("PENSTOCK_DATABASE", ""),
            places=environ.get("PENSTOCK_PLACES", ""),
            store=environ.get(STANDARD["store"], ""),
            store_region=environ.get(STANDARD["store_region"], cls.store_region),
            shift_hours=_number(environ, "PENSTOCK_SHIFT_HOURS", cls.shift_hours),
            stream_groups=environ.get("PENSTOCK_STREAM_GROUPS", ""),
            compiler=_one_of(environ, "PENSTOCK_COMPILER", ("full", "quick")),
            revert_days=_number(environ, "PENSTOCK_REVERT_DAYS", cls.revert_days),
            retention=environ.get("PENSTOCK_RETENTION", ""),
            lineage=_lineage(environ, "PENSTOCK_LINEAGE"),
            metrics=environ.get(STANDARD["metrics"], ""),
            started_by=environ.get(STANDARD["started_by"], ""),
        )

    @property
    def serve_at(self) -> str:
        """Where programs ask serve. What a person opens is the front door on this machine, by the port."""
        return self.serve_url or f"http://127.0.0.1:{self.serve_port}"

    @property
    def airflow_at(self) -> str:
        return self.airflow_url or f"http://127.0.0.1:{self.airflow_port}"

    @property
    def lineage_to(self) -> dict[str, Any]:
        """OpenLineage's transport, for Airflow and for Spark jobs alike."""
        if not self.lineage:
            # Never lost, nor sent anywhere unasked.
            return {"type": "file", "log_file_path": str(self.home / "logs" / "lineage.jsonl"), "append": True}
        if self.lineage.startswith("http"):
            # A server that is down costs each job two seconds, not half a minute.
            return {"type": "http", "url": self.lineage, "timeout": 2, "retry": {"total": 1}}
        told: dict[str, Any] = json.loads(self.lineage)
        return told

    def to_env(self) -> dict[str, str]:
        """The environment in which `from_env` gives these settings again, for child processes."""
        names = {name: STANDARD.get(name, f"PENSTOCK_{name.upper()}") for name in self.__dataclass_fields__}
        told = {spelled: str(getattr(self, name)) for name, spelled in names.items()}
        # Set but empty, an address would be taken for one.
        for name in ("store", "metrics"):
            if not getattr(self, name):
                del told[STANDARD[name]]
        return {**told, "AWS_ALLOW_HTTP": str(self.store.startswith("http://")).lower()}


def _port(environ: Mapping[str, str], name: str, default: int, least: int = 1) -> int:
    text = environ.get(name, str(default))
    if not text.isdigit() or not least <= int(text) < 65536:
        raise SettingError(f"{name}={text!r} is not a port. Set it to a number from {least} to 65535.")
    return int(text)


def _url(environ: Mapping[str, str], name: str) -> str:
    text = environ.get(name, "").rstrip("/")
    if text and not re.fullmatch(r"https?://[^/\s@]+", text):
        raise SettingError(f"{name}={text!r} is not an address. Set it to http://HOST:PORT, or leave it out.")
    return text


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, str(default))
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= MOST:
        raise SettingError(f"{name}={text!r} is not a number above 0, up to {MOST:,}.")
    return number


def _one_of(environ: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """The first one where nothing is said."""
    text = environ.get(name, "") or allowed[0]
    if text not in allowed:
        raise SettingError(f"{name}={text!r} is not known. Set it to {' or '.join(allowed)}, or leave it out.")
    return text


def _lineage(environ: Mapping[str, str], name: str) -> str:
    text = environ.get(name, "").strip()
    if not text.startswith("{"):
        return _url(environ, name)
    try:
        named = isinstance(json.loads(text).get("type"), str)
    except ValueError:
        named = False
    if not named:
        raise SettingError(
            f"{name} is no transport of OpenLineage. Set it to http://HOST:PORT, or to JSON such as "
            '{"type": "kafka", "topic": "lineage", "config": {"bootstrap.servers": "HOST:9092"}}.'
        )
    return text
