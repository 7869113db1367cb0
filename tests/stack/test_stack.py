"""The whole stack, as its users meet it."""

import json
import os
import signal
import stat
import urllib.error
import urllib.request

import psutil
import pytest
from standing import RunningStack, eventually

from penstock.ops.stack import orphans
from penstock.ops.stack.home import USERS, open_home

# A busy machine is slow; `penstock bench recovery` holds a quiet one to 15 s.
BACK = 90.0


def test_every_part_is_well(stack: RunningStack) -> None:
    # A server that is busy for a moment answers a moment later.
    assert eventually(lambda: bool(stack.status()["well"]), 60)
    told = stack.status()
    assert {"broker", "collector", "api-server", "scheduler", "dag-processor", "triggerer"} <= {
        row["part"] for row in told["parts"]
    }


def test_a_second_stack_in_the_same_home_is_refused(stack: RunningStack) -> None:
    second = stack.penstock("up", "--json")
    assert second.returncode == 3
    assert "already runs" in second.stderr and "penstock down" in second.stderr


@pytest.mark.parametrize("user", USERS)
def test_each_user_logs_in_with_the_password_of_the_home(stack: RunningStack, user: str) -> None:
    assert "dags" in stack.ask("GET", "/api/v2/dags", token=stack.token(user))


def test_an_analyst_may_look_and_not_touch(stack: RunningStack) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        stack.ask("POST", "/api/v2/variables", {"key": "x", "value": "y"}, stack.token("analyst"))
    assert refused.value.code == 403


def test_passwords_are_for_the_owners_eyes_only(stack: RunningStack) -> None:
    assert stat.S_IMODE((stack.home / "passwords.json").stat().st_mode) == 0o600


def test_nothing_listens_beyond_this_machine(stack: RunningStack) -> None:
    ours = {each.pid for each in orphans.processes(open_home(stack.home).stack)}
    listening = [
        connection.laddr[0]
        for connection in psutil.net_connections("tcp")
        if connection.pid in ours and connection.status == psutil.CONN_LISTEN
    ]
    assert listening and all(address in ("127.0.0.1", "::1", "::ffff:127.0.0.1") for address in listening)


def test_a_part_that_is_killed_comes_back(stack: RunningStack) -> None:
    before = stack.part("broker")["pid"]
    os.kill(before, signal.SIGKILL)

    def back() -> bool:
        now = stack.part("broker")
        return now["state"] == "well" and now["pid"] != before

    assert eventually(back, BACK)


def test_the_console_knows_what_airflow_runs(stack: RunningStack) -> None:
    def streams() -> bool:
        with urllib.request.urlopen(stack.url("serve", "/api/works"), timeout=60) as answer:  # noqa: S310
            runs = json.loads(answer.read())["runs"] or []
        return any(run["dag"] == "streams" and run["state"] == "running" for run in runs)

    assert eventually(streams, BACK)


def test_logs_show_what_a_part_said(stack: RunningStack) -> None:
    said = stack.penstock("logs", "broker", "--lines", "200")
    assert said.returncode == 0 and "Kafka Server started" in said.stdout
