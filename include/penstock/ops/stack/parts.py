"""What the stack runs: one row a part."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.ops.stack import health
from penstock.settings import Settings

BIN = Path(sys.prefix) / "bin"


@dataclass(frozen=True)
class Part:
    """One process that the supervisor keeps alive. `ports`: port -> the setting that moves it."""

    name: str
    module: str
    well: Callable[[float], bool]
    arguments: tuple[str, ...] = ()
    ports: tuple[tuple[int, str], ...] = ()
    address: str = ""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", self.module, *self.arguments]


def parts(settings: Settings) -> list[Part]:
    """The parts in the order in which data meets them."""
    collector, serve = (f"http://127.0.0.1:{port}" for port in (settings.collector_port, settings.serve_port))
    return [
        Part(
            "collector", "penstock.collect", health.http(f"{collector}/readyz"), address=collector,
            ports=((settings.collector_port, "PENSTOCK_COLLECTOR_PORT"),),
        ),
        *_broker(settings),
        *_airflow(settings),
        Part(
            "serve", "penstock.serve", health.http(f"{serve}/api/status"), address=serve,
            ports=((settings.serve_port, "PENSTOCK_SERVE_PORT"),),
        ),
    ]  # fmt: skip


def _broker(settings: Settings) -> list[Part]:
    """None where PENSTOCK_KAFKA names a cluster of somebody else's."""
    port = settings.kafka_port
    if settings.kafka != f"127.0.0.1:{port}":
        return []
    taken = ((port, "PENSTOCK_KAFKA_PORT"), (port + 1, "PENSTOCK_KAFKA_PORT (the controller has the next port)"))
    return [Part("broker", "penstock.ops.stack.broker", health.tcp(port), ports=taken, address=settings.kafka)]


def _airflow(settings: Settings) -> list[Part]:
    """Its four parts. Logs are files of this machine, so nothing serves them on 8793 and 8794."""
    url = f"http://127.0.0.1:{settings.airflow_port}"
    report = health.Report(f"{url}/api/v2/monitor/health")
    module = "penstock.ops.stack.airflow"
    return [
        Part("api-server", module, report.answers, ("api-server",),
             ((settings.airflow_port, "PENSTOCK_AIRFLOW_PORT"),), url),
        Part("scheduler", module, report.beats("scheduler"), ("scheduler", "--skip-serve-logs")),
        Part("dag-processor", module, report.beats("dag_processor"), ("dag-processor",)),
        Part("triggerer", module, report.beats("triggerer"), ("triggerer", "--skip-serve-logs")),
    ]  # fmt: skip
