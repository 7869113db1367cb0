"""Airflow's REST API, for the command line and the console: what a person does by a form, they do by the same DAG."""

import getpass
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx

from penstock.refusal import Refusal
from penstock.settings import Settings

USER = "oncall"
LOOK_SECONDS, PATIENCE = 1.0, 60.0
UNDER_WAY = "/dags/~/dagRuns?state=running&state=queued&order_by=-id&limit=50"
# Whoever answers within seconds is quicker than Airflow's scheduler, which has not heard yet that the task's process
# ended to wait: it then takes the answered task for one that went wrong. It hears with the next heartbeat of the
# process, up to five seconds later, and in its next loop (seen with 3.3.2: answered after five seconds, failed).
LOOKS_BEFORE_AN_ANSWER = 8
ANSWER_AFTER = timedelta(seconds=LOOKS_BEFORE_AN_ANSWER * LOOK_SECONDS)
PLAN, APPROVE = "plan", "approve"
YES, NO = "Approve", "Reject"
LAST = "9999"
# The states of a task that waits for a person.
ASKED = ("awaiting_input", "deferred")


class Unreachable(Refusal):
    """No Airflow answers, or none that knows us."""


@dataclass(frozen=True)
class Question:
    """What a run asks a person before it goes on. `open`: it may be answered by now."""

    subject: str
    body: str
    open: bool


@dataclass(frozen=True)
class Run:
    """One run of an operation's DAG."""

    dag: str
    id: str
    state: str

    @property
    def over(self) -> bool:
        return self.state in ("success", "failed")


class Cockpit:
    """Logged in as the user on call, with the password that the home keeps."""

    def __init__(self, settings: Settings, user: str = USER, patience: float = PATIENCE) -> None:
        self._address = settings.airflow_at
        self._http = httpx.Client(base_url=self._address, timeout=patience)
        passwords = settings.home / "passwords.json"
        if not passwords.exists():
            raise Unreachable(f"No stack was started in {settings.home} yet. Start it: `penstock up`.")
        try:
            password = json.loads(passwords.read_text())[user]
            token = self._http.post("/auth/token", json={"username": user, "password": password}).raise_for_status()
        except (OSError, KeyError, httpx.HTTPError) as error:
            told = f"Airflow does not answer at {self._address} ({error}). Start it: `penstock up`."
            raise Unreachable(told) from error
        self._http.headers["Authorization"] = f"Bearer {token.json()['access_token']}"

    def trigger(self, dag: str, form: dict[str, Any]) -> Run:
        """Starts the DAG as its form would. What does not fit the form is refused before a run exists."""
        conf = {"who": f"{getpass.getuser()} (command line)", **form}
        told = self._ask("POST", f"/dags/{dag}/dagRuns", {"logical_date": None, "conf": conf})
        return Run(dag, told["dag_run_id"], told["state"])

    def backfill(self, dag: str, first: date, last: date) -> None:
        """Asks for a run a day, also of days that had one. Ten may be under way: those that wait for a pool's slot."""
        ends = {"from_date": f"{first}T00:00:00Z", "to_date": f"{last}T00:00:00Z"}
        asked = {"dag_id": dag, **ends, "reprocess_behavior": "completed", "max_active_runs": 10}
        self._ask("POST", "/backfills", asked)

    def get(self, path: str) -> Any:
        """Anything that Airflow tells of itself."""
        return self._ask("GET", path)

    def under_way(self) -> list[dict[str, Any]]:
        """The runs of all DAGs that are not over, newest first, as Airflow tells of them."""
        runs: list[dict[str, Any]] = self._ask("GET", UNDER_WAY)["dag_runs"]
        return runs

    def close(self) -> None:
        self._http.close()

    def unpause(self, dag: str) -> None:
        self._ask("PATCH", f"/dags/{dag}", {"is_paused": False})

    def address(self, run: Run) -> str:
        return f"{self._address}/dags/{run.dag}/runs/{run.id}"

    def state(self, run: Run) -> Run:
        return Run(run.dag, run.id, self._ask("GET", f"/dags/{run.dag}/dagRuns/{run.id}")["state"])

    def tasks(self, run: Run) -> dict[str, str | None]:
        """Task -> state, as they follow each other."""
        told = self._ask("GET", f"/dags/{run.dag}/dagRuns/{run.id}/taskInstances")["task_instances"]
        # In the order in which they began; of those that wait, the question comes before what it is about.
        order = sorted(told, key=lambda each: (each.get("start_date") or LAST, each["task_id"] != APPROVE))
        return {each["task_id"]: each["state"] for each in order}

    def follow(
        self, run: Run, approve: bool = False, progress: Callable[[], str] = str
    ) -> Iterator[dict[str, str | None]]:
        """The tasks' states, whenever anything changes, until the run is over. `approve`: says yes when it is asked."""
        last: tuple[dict[str, str | None], str] = {}, ""
        waiting = 0
        while True:
            over, tasks = self.state(run).over, self.tasks(run)
            if (tasks, progress()) != last:
                last = tasks, progress()
                yield tasks
            if over:
                return
            waiting = waiting + 1 if tasks.get(APPROVE) in ASKED else 0
            if approve and waiting >= LOOKS_BEFORE_AN_ANSWER:
                self.approve(run)
            time.sleep(LOOK_SECONDS)

    def question(self, run: Run, tasks: Mapping[str, str | None]) -> Question | None:
        """What a run with these tasks waits to be answered; None where nothing is asked, or it was answered."""
        if tasks.get(APPROVE) not in ASKED:
            return None
        with suppress(Refusal):
            asked = self._ask("GET", _question(run))
            early = datetime.now(UTC) - datetime.fromisoformat(asked["created_at"]) < ANSWER_AFTER
            return None if asked["response_received"] else Question(asked["subject"], asked["body"] or "", not early)
        return None

    def approve(self, run: Run) -> None:
        self.answer(run, YES)

    def answer(self, run: Run, option: str) -> None:
        """YES or NO, in the name of who is logged in."""
        said = self._http.patch(f"/api/v2{_question(run)}", json={"chosen_options": [option], "params_input": {}})
        # 409: somebody was quicker. 404: it is parked, and what it asks is not written yet; we look again.
        if said.status_code not in (200, 404, 409):
            said.raise_for_status()

    def said(self, run: Run, task: str) -> Any:
        """What a task returned."""
        path = f"/dags/{run.dag}/dagRuns/{run.id}/taskInstances/{task}/xcomEntries/return_value"
        return self._ask("GET", path).get("value")

    def plan(self, run: Run) -> str:
        """What its plan says; nothing where it returned nothing."""
        with suppress(Refusal):
            said = self.said(run, PLAN)
            return str(said.get("text", "") if isinstance(said, dict) else said or "")
        return ""

    def why(self, run: Run) -> str:
        """The last words of the task that failed."""
        failed = [task for task, state in self.tasks(run).items() if state == "failed"]
        for task in failed:
            path = f"/api/v2/dags/{run.dag}/dagRuns/{run.id}/taskInstances/{task}/logs/1?full_content=true"
            answer = self._http.get(path, headers={"Accept": "application/x-ndjson"})
            return f"{task} failed: {last_words(answer.text)}"
        return "it failed before a task began"

    def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        try:
            answer = self._http.request(method, f"/api/v2{path}", json=body)
        except httpx.TransportError as error:
            raise Unreachable(f"Airflow no longer answers at {self._address} ({error}).") from error
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise Refusal(f"Airflow has no {path}: a DAG that was just added is there within half a minute.")
        if answer.is_client_error:
            raise Refusal(f"Airflow refused the request: {answer.json().get('detail', answer.text)}")
        answer.raise_for_status()
        told: dict[str, Any] = answer.json()
        return told


def _question(run: Run) -> str:
    return f"/dags/{run.dag}/dagRuns/{run.id}/taskInstances/{APPROVE}/-1/hitlDetails"


def last_words(log: str) -> str:
    """The error in a task's log (JSON lines), in the words of the Spark job if it was one; else its last line."""
    said = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    errors = [
        f"{detail['exc_type']}: {detail['exc_value']}" for line in said for detail in line.get("error_detail") or ()
    ]
    job = [str(line["event"]) for line in said if "spark_submit" in str(line.get("logger"))]
    # The JVM logs after the job has said why, each line with its time.
    own = [event for event in job if event.strip() and not event[:4].isdigit()]
    if errors and own:
        return own[-1]
    return (errors or [str(line.get("event", "")) for line in said] or ["no log was kept"])[-1]


def _follow(
    cockpit: Cockpit, run: Run, approve: bool, tell: Callable[[str], None], progress: Callable[[], str]
) -> None:
    """Tells how the tasks are and how far the work is, what is planned, and who has to do what."""
    planned = False
    for tasks in cockpit.follow(run, approve, progress):
        states = ", ".join(f"{task} {state or 'waits'}" for task, state in tasks.items())
        tell(f"{states}  {progress()}".rstrip())
        if not planned and tasks.get(PLAN) == "success":
            planned = True
            if plan := cockpit.plan(run):
                tell(plan)
        if tasks.get(APPROVE) == "awaiting_input" and not approve:
            tell(f"Somebody has to approve it: {cockpit.address(run)} (or give --yes)")


def operate(
    settings: Settings,
    dag: str,
    form: dict[str, Any],
    *,
    approve: bool,
    wait: bool,
    tell: Callable[[str], None],
    progress: Callable[[], str] = str,
) -> dict[str, Any]:
    """Triggers an operation and, if asked, follows it to its end. What `--json` prints; a failed run is a refusal."""
    cockpit = Cockpit(settings)
    run = cockpit.trigger(dag, {name: value for name, value in form.items() if value is not None})
    tell(f"{dag} runs: {cockpit.address(run)}")
    if wait:
        _follow(cockpit, run, approve, tell, progress)
        run = cockpit.state(run)
        if run.state == "failed":
            raise Refusal(cockpit.why(run))
    return {"dag": dag, "run": run.id, "state": run.state, "address": cockpit.address(run)}
