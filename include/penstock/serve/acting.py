"""What people on call do to releases and facts from the console: each is a run of the DAG that Airflow's form starts.

Airflow judges the form, plans, asks for approval and keeps the story; here it is passed on, in the name of who asks.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from time import monotonic

from starlette.requests import Request

from penstock.cockpit import NO, PLAN, YES, Cockpit, Run, Unreachable
from penstock.refusal import Refusal
from penstock.serve.access.guard import who_of
from penstock.serve.access.who import READER, ROLES, Who
from penstock.serve.problems import Problem, bad, unknown
from penstock.settings import Settings

OPERATIONS = (
    "replay", "switch", "drop_release", "restore_point", "rewind", "retract", "restate", "repair",
)  # fmt: skip
ANSWERS = {"approve": YES, "reject": NO}
# Nothing that would mean more in an address of Airflow's.
RUN = re.compile(r"[\w.:+-]+")
# Airflow's tokens hold for a day; a password that was changed counts soon.
LOGGED_IN_SECONDS = 600.0


class Acts:
    """Over the Airflow of one home."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._logged_in: dict[str, tuple[Cockpit, float]] = {}

    def under_way(self, _: Request) -> object:
        """The runs of these operations that are not over, newest first; None where no Airflow answers."""
        airflow = f"http://127.0.0.1:{self._settings.airflow_port}"
        try:
            with self._airflow(READER) as cockpit:
                runs = cockpit.under_way()
        except Problem:
            return {"runs": None, "airflow": airflow}
        told = [{"dag": one["dag_id"], "run": one["dag_run_id"], "state": one["state"]} for one in runs]
        return {"runs": [one for one in told if one["dag"] in OPERATIONS], "airflow": airflow}

    def told(self, request: Request) -> object:
        """How far a run is: its tasks, what is planned, what it asks, and why it failed."""
        with self._airflow(READER) as cockpit:
            run = cockpit.state(_run(request))
            tasks, failed = cockpit.tasks(run), run.state == "failed"
            question = cockpit.question(run, tasks)
            plan = None if question or tasks.get(PLAN) != "success" else cockpit.plan(run)
            return {
                "dag": run.dag,
                "run": run.id,
                "state": run.state,
                "over": run.over,
                "tasks": tasks,
                "plan": question.body if question else plan,
                "why": cockpit.why(run) if failed else None,
                "asks": asdict(question) if question else None,
            }

    def start(self, request: Request, form: Mapping[str, str]) -> object:
        """A field that is empty is not in the form: Airflow's own default counts."""
        dag, who = _dag(request), who_of(request)
        said = {name: text for name, text in form.items() if text.strip()}
        with self._airflow(_account(who)) as cockpit:
            run = cockpit.trigger(dag, {**said, "who": f"{who.name} (console)"})
        return {"dag": run.dag, "run": run.id, "state": run.state}

    def answer(self, request: Request, form: Mapping[str, str]) -> object:
        """Says yes or no to what a run asks."""
        run, said = _run(request), form.get("answer", "")
        if said not in ANSWERS:
            raise bad("say the answer", *ANSWERS)
        with self._airflow(_account(who_of(request))) as cockpit:
            question = cockpit.question(run, cockpit.tasks(run))
            if question is None or not question.open:
                raise Problem(
                    409, "Nothing is asked", f"{run.dag} {run.id} waits for nobody's answer (any more, or yet)"
                )
            cockpit.answer(run, ANSWERS[said])
        return {"dag": run.dag, "run": run.id, "answer": said}

    @contextmanager
    def _airflow(self, account: str) -> Iterator[Cockpit]:
        """Airflow as this account; its refusals as problems."""
        try:
            cockpit, until = self._logged_in.get(account, (None, 0.0))
            if cockpit is None or monotonic() > until:
                cockpit = Cockpit(self._settings, account)
                self._logged_in[account] = cockpit, monotonic() + LOGGED_IN_SECONDS
            yield cockpit
        except Unreachable as error:
            self._logged_in.pop(account, None)
            raise Problem(503, "Airflow is not there", str(error)) from error
        except Refusal as refused:
            raise Problem(409, "Nothing was started or answered", str(refused)) from refused


def _dag(request: Request) -> str:
    dag = str(request.path_params["dag"])
    if dag not in OPERATIONS:
        raise unknown("operation", dag, OPERATIONS)
    return dag


def _run(request: Request) -> Run:
    name = request.path_params["run"]
    if not RUN.fullmatch(name):
        raise bad("say a run as Airflow names it, such as manual__2026-11-19T05:31:37+00:00")
    return Run(_dag(request), name, "")


def _account(who: Who) -> str:
    """Airflow knows the home's three users; whom a proxy names acts as their role's."""
    return who.name if who.name in ROLES else who.role
