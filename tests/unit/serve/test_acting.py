"""What the console starts in Airflow: who may, what is passed on, and what is said when it cannot be."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

import pytest
from airflow_desk import RUN, Airflow, standing_in
from starlette.testclient import TestClient

from penstock.lake.layout import Layout
from penstock.serve.access.identity import Access
from penstock.serve.acting import OPERATIONS
from penstock.serve.answers import Answers
from penstock.serve.app import create_app
from penstock.serve.reader import Reader
from penstock.settings import Settings

USERS = {"analyst": "reads", "oncall": "acts", "admin": "settles"}
ADDRESS = f"/api/operations/switch/{quote(RUN)}"


@pytest.fixture
def airflow() -> Iterator[tuple[type[Airflow], int]]:
    with standing_in() as (handler, port):
        yield handler, port


def console(settings: Settings, port: int, user: str = "oncall") -> TestClient:
    settings = replace(settings, airflow_url=f"http://127.0.0.1:{port}")
    (settings.home / "passwords.json").write_text(json.dumps(USERS))
    client = TestClient(create_app(Answers(settings, Reader(Layout(settings.lake))), Access(settings.home)))
    assert client.post("/api/login", json={"user": user, "password": USERS[user]}).status_code == 200
    return client


def test_a_form_reaches_airflow_in_the_name_of_who_sent_it(
    settings: Settings, airflow: tuple[type[Airflow], int]
) -> None:
    heard, port = airflow
    form = {"domain": "web", "release": "r2", "why": "the new rule", "source": ""}
    answer = console(settings, port).post("/api/operations/switch", json=form)
    assert (answer.status_code, answer.json()) == (202, {"dag": "switch", "run": RUN, "state": "queued"})
    conf = {"domain": "web", "release": "r2", "why": "the new rule", "who": "oncall (console)"}
    sent = {"logical_date": None, "conf": conf}
    assert heard.heard[-1] == ("Bearer oncall", "/api/v2/dags/switch/dagRuns", sent)


def test_whatever_is_undone_by_a_form_can_be_started(settings: Settings, airflow: tuple[type[Airflow], int]) -> None:
    client = console(settings, airflow[1])
    for dag in OPERATIONS:
        assert client.post(f"/api/operations/{dag}", json={"why": "a test"}).json()["dag"] == dag


@pytest.mark.parametrize(
    ("user", "path", "form", "status", "told"),
    [
        ("analyst", "/api/operations/switch", {"why": "x"}, 403, "takes oncall"),
        ("analyst", ADDRESS, {"answer": "approve"}, 403, "takes oncall"),
        ("oncall", "/api/operations/maintain", {"why": "x"}, 404, "no operation 'maintain'"),
        ("oncall", "/api/operations/erase", {"why": "x"}, 404, "no operation 'erase'"),
        ("oncall", "/api/operations/switch", {"release": "r2"}, 409, "Invalid input for param why"),
        ("oncall", ADDRESS, {"answer": "perhaps"}, 400, "say the answer"),
        ("oncall", "/api/operations/switch/x%3Fstate=success", {"answer": "approve"}, 400, "as Airflow names it"),
    ],
    ids=[
        "starts without the role",
        "answers without it",
        "another DAG",
        "what is for good",
        "no reason",
        "no answer",
        "no run",
    ],
)
def test_what_is_refused_says_why(
    settings: Settings,
    airflow: tuple[type[Airflow], int],
    user: str,
    path: str,
    form: dict[str, str],
    status: int,
    told: str,
) -> None:
    answer = console(settings, airflow[1], user).post(path, json=form)
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True), answer.text


def test_a_run_says_how_far_it_is_and_what_it_asks(settings: Settings, airflow: tuple[type[Airflow], int]) -> None:
    client = console(settings, airflow[1], "analyst")
    runs = [{"dag": "switch", "run": RUN, "state": "running"}]
    airflow_page = f"http://127.0.0.1:{settings.airflow_port}"
    assert client.get("/api/operations").json() == {"runs": runs, "airflow": airflow_page}
    told = client.get(ADDRESS).json()
    assert [*told["tasks"].items()] == [("plan", "success"), ("approve", "awaiting_input"), ("move", None)]
    assert told["asks"] == {"subject": "Switch it?", "body": "nothing changes", "open": False}
    assert (told["plan"], told["over"]) == ("nothing changes", False)


def test_an_answer_waits_until_airflow_knows_that_it_asked(
    settings: Settings, airflow: tuple[type[Airflow], int]
) -> None:
    heard, port = airflow
    client = console(settings, port)
    assert client.post(ADDRESS, json={"answer": "approve"}).status_code == 409
    heard.asked_at -= timedelta(minutes=1)
    assert client.post(ADDRESS, json={"answer": "reject"}).status_code == 202
    said, path, told = heard.heard[-1]
    assert (said, path.rpartition("/")[2], told["chosen_options"]) == ("Bearer oncall", "hitlDetails", ["Reject"])


def test_without_airflow_the_page_still_shows_and_a_press_says_so(settings: Settings) -> None:
    client = console(settings, port=9)
    assert client.get("/api/operations").json()["runs"] is None
    answer = client.post("/api/operations/restore_point", json={"why": "before the deployment"})
    assert (answer.status_code, "penstock up" in answer.json()["detail"]) == (503, True)
