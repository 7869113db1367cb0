"""Airflow's own metrics go to whom one setting names, over HTTP as OpenTelemetry writes it."""

import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from receivers import serving

from penstock.ops.airflow.environment import environment
from penstock.settings import Settings

COUNTS = """
from airflow.observability.metrics.stats_utils import get_stats_factory
get_stats_factory()().incr("scheduler_heartbeat")
"""


class Heard(BaseHTTPRequestHandler):
    """Keeps each address that was posted to, with what was posted."""

    told: list[tuple[str, bytes]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        self.told.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Silent."""


def test_a_named_server_hears_airflow_s_metrics(tmp_path: Path) -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Heard)) as port:
        settings = Settings.from_env({"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"})
        told = {"AIRFLOW_HOME": str(tmp_path), **settings.to_env(), **environment(settings)}
        # Uncompressed, so that a name can be read in it.
        ours = {**os.environ, **told, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
        subprocess.run([sys.executable, "-c", COUNTS], env=ours, timeout=120, check=True)
    assert {path for path, what in Heard.told if b"airflow.scheduler_heartbeat" in what} == {"/v1/metrics"}


def test_nobody_hears_them_unasked() -> None:
    settings = Settings.from_env({})
    assert environment(settings)["AIRFLOW__METRICS__OTEL_ON"] == "False"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" not in settings.to_env()
