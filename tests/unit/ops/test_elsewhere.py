"""Parts on other hosts: who asks Airflow or serve asks at the address of the settings, not at a port of this host."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from receivers import serving

from penstock.cockpit import Cockpit
from penstock.serve.works import runs
from penstock.settings import Settings

RUN = {"dag_id": "streams", "dag_run_id": "r", "state": "running", "start_date": "2026-01-01T00:00:00Z"}
# What Airflow and serve say to any question, as one document.
SAID = {"access_token": "t", "dag_runs": [RUN], "rows": [], "certificate": {}}


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(SAID).encode())

    do_POST = do_GET

    def log_message(self, format: str, *arguments: Any) -> None:
        """Silent."""


@pytest.fixture
def there(settings: Settings) -> Iterator[Settings]:
    """Nobody listens at the ports of this host; an address beside them answers."""
    (settings.home / "passwords.json").write_text('{"analyst": "a", "oncall": "o"}')
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)) as port:
        address = f"http://127.0.0.1:{port}"
        yield replace(settings, serve_port=9, airflow_port=9, serve_url=address, airflow_url=address)


def test_a_command_reaches_airflow(there: Settings) -> None:
    assert Cockpit(there).get("/dags")["dag_runs"] == [RUN]


def test_the_console_knows_what_airflow_runs(there: Settings) -> None:
    assert [one["dag"] for one in runs(there) or []] == ["streams"]


def test_the_weeks_mail_is_written_from_serve(there: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.ops.airflow.reports import mail

    (there.home / "alerts.conf").write_text("report=json://127.0.0.1:9/\n")
    for name, value in there.to_env().items():
        monkeypatch.setenv(name, value)
    assert mail("web", "") == []
