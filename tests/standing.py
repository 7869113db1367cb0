"""A stack that runs for tests, as its users have it: commands and addresses."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from penstock.ops.stack import orphans, trial
from penstock.ops.stack.home import open_home
from penstock.ops.stack.supervise import OWNER

PENSTOCK = Path(sys.prefix, "bin", "penstock")


@dataclass(frozen=True)
class RunningStack:
    """Commands and addresses of a stack that runs for the tests."""

    home: Path
    environ: dict[str, str]

    def penstock(self, *arguments: str, timeout: float = 400) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PENSTOCK, *arguments], env=self.environ, capture_output=True, text=True, timeout=timeout, check=False
        )

    def status(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.penstock("status", "--json").stdout)
        return told

    def part(self, name: str) -> dict[str, Any]:
        return next(row for row in self.status()["parts"] if row["part"] == name)

    def url(self, part: str, path: str) -> str:
        return f"http://127.0.0.1:{self.environ[f'PENSTOCK_{part.upper()}_PORT']}{path}"

    def token(self, user: str) -> str:
        """Logs a user in to Airflow with the password that the home keeps."""
        password = json.loads((self.home / "passwords.json").read_text())[user]
        return str(self.ask("POST", "/auth/token", {"username": user, "password": password})["access_token"])

    def ask(self, method: str, path: str, body: object = None, token: str = "", times: int = 3) -> dict[str, Any]:
        """One call of Airflow's REST API."""
        request = urllib.request.Request(  # noqa: S310
            self.url("airflow", path),
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
                told: dict[str, Any] = json.loads(answer.read())
                return told
        except urllib.error.HTTPError as refused:
            # Airflow's database was busy for longer than it waits: nothing was done, and people press again.
            if refused.code != HTTPStatus.SERVICE_UNAVAILABLE or times == 0:
                raise
            return self.ask(method, path, body, token, times - 1)


@contextmanager
def running(home: Path, environ: dict[str, str]) -> Iterator[RunningStack]:
    """A stack for as long as a story needs it; no process of it is left."""
    stack = RunningStack(home, environ)
    begun = stack.penstock("up", "--detach")
    try:
        assert begun.returncode == 0, begun.stdout + begun.stderr
        yield stack
    finally:
        stack.penstock("down")
    assert orphans.processes(open_home(home).stack) == []


def environment(home: Path) -> dict[str, str]:
    """Ports of its own for each stack, so that tests run beside a developer's. It ends with the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "PENSTOCK"))}
    return {**kept, **trial.settings(home, compiler="quick").to_env(), OWNER: str(os.getpid())}


def eventually(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
