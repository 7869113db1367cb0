"""Airflow's REST API in the little that the console asks of it, for tests of what stands before it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from receivers import serving

RUN = "manual__2026-11-19T05:31:37.068809+00:00"


class Airflow(BaseHTTPRequestHandler):
    """One run of each DAG, which asks to be approved and is over once it was. Takes no form without a reason.

    With `error` its plan has failed, with these words.
    """

    asked_at: datetime
    heard: list[tuple[str, str, Any]]
    plan = "nothing changes"
    error = ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix("/api/v2")
        if path == "/dags/~/dagRuns":
            runs = [{"dag_id": dag, "dag_run_id": RUN, "state": "running"} for dag in ("switch", "streams")]
            self._say(200, {"dag_runs": runs})
            return
        dag = path.split("/")[2]
        run = f"/dags/{dag}/dagRuns/{RUN}"
        answers: dict[str, Any] = {
            run: {"state": self._state()},
            f"{run}/taskInstances": {"task_instances": self._tasks()},
            f"{run}/taskInstances/plan/xcomEntries/return_value": {"value": self.plan},
            f"{run}/taskInstances/plan/logs/1": {"error_detail": [{"exc_type": "Refused", "exc_value": self.error}]},
            f"{run}/taskInstances/approve/-1/hitlDetails": {
                "subject": f"{dag.capitalize()} it?",
                "body": self.plan,
                "created_at": self.asked_at.isoformat(),
                "response_received": self._answered(),
            },
        }
        self._say(200 if path in answers else 404, answers.get(path, {}))

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.heard.append((self.headers.get("Authorization", ""), self.path, told))
        if self.path == "/auth/token":
            self._say(201, {"access_token": told["username"]})
        elif self.command == "POST" and "why" not in told["conf"]:
            self._say(400, {"detail": "Invalid input for param why: required"})
        else:
            self._say(200, {"dag_run_id": RUN, "state": "queued"})

    do_PATCH = do_POST

    def _answered(self) -> bool:
        return any(path.endswith("hitlDetails") for _, path, _ in self.heard)

    def _state(self) -> str:
        return "failed" if self.error else "success" if self._answered() else "running"

    def _tasks(self) -> list[dict[str, str | None]]:
        """In no order, as Airflow tells of them."""
        done = "success" if self._answered() else None
        states = ("failed", None, None) if self.error else ("success", done, done or "awaiting_input")
        return [
            {"task_id": task, "state": state, "start_date": f"2026-11-19T05:31:{at}Z" if state else None}
            for task, state, at in zip(("plan", "move", "approve"), states, (38, 59, 40), strict=True)
        ]

    def _say(self, status: int, told: object) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Silent."""


@contextmanager
def standing_in(**said: str) -> Iterator[tuple[type[Airflow], int]]:
    """One of its own, which remembers what it heard, and its port. `said`: its plan, its error."""
    handler = type("Heard", (Airflow,), {"heard": [], "asked_at": datetime.now(UTC), **said})
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as port:
        yield handler, port
