"""Somebody of the oncall role with Airflow's REST API in hand, and what the lake then says."""

import json
import logging
import uuid
from collections import Counter
from datetime import date
from functools import partial
from typing import Any
from urllib.request import Request, urlopen

import psutil
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake
from standing import eventually

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.publication import open_table
from penstock.model.domain import domains
from penstock.ops.airflow.environment import PROJECT
from penstock.ops.stack import orphans
from penstock.ops.stack.home import open_home

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
VIEW, SOURCE = "web.pageviews", "web.events"
# Each wait is some ten seconds on a quiet machine.
SECONDS = 400

log = logging.getLogger(__name__)


class Operator:
    """Asks, presses, waits."""

    def __init__(self, stack: Any) -> None:
        self.stack = stack
        self.token = stack.token("oncall")
        self.layout = Layout(str(stack.home / "lake"))

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        told: dict[str, Any] = self.stack.ask(method, f"/api/v2{path}", body, self.token)
        return told

    def wake(self, dag: str) -> None:
        """Of a stack whose DAGs rest: this one runs, once Airflow has read its file."""
        assert eventually(lambda: dag in [each["dag_id"] for each in self.ask("GET", "/dags")["dags"]], SECONDS)
        self.ask("PATCH", f"/dags/{dag}", {"is_paused": False})

    def latest(self, dag: str) -> str:
        """The run that began last, once there is one; a DAG that wakes has its schedule's."""
        ask = partial(self.ask, "GET", f"/dags/{dag}/dagRuns?order_by=-start_date&limit=1")
        assert eventually(lambda: ask()["dag_runs"], SECONDS)
        return str(ask()["dag_runs"][0]["dag_run_id"])

    def start(self, dag: str, **form: object) -> str:
        return str(self.ask("POST", f"/dags/{dag}/dagRuns", {"logical_date": None, "conf": form})["dag_run_id"])

    def build(self, **form: object) -> str:
        return self.start("build_views", domain="web", **form)

    def ended(self, run: str, dag: str = "build_views") -> str:
        """The state that a run ends in."""
        state: list[str] = [""]

        def over() -> bool:
            state[0] = str(self.ask("GET", f"/dags/{dag}/dagRuns/{run}")["state"])
            return state[0] in ("success", "failed")

        assert eventually(over, SECONDS), f"{run} is {state[0]} after {SECONDS} s"
        if state[0] == "failed":
            self.tell(run, dag)
        return state[0]

    def tell(self, run: str, dag: str) -> None:
        """Logs what its failed tasks said last: pytest shows it where nobody expected the failure."""
        for task in self.ask("GET", f"/dags/{dag}/dagRuns/{run}/taskInstances?state=failed")["task_instances"]:
            logs = f"/dags/{dag}/dagRuns/{run}/taskInstances/{task['task_id']}/logs/{task['try_number']}"
            told = self.ask("GET", f"{logs}?map_index={task['map_index']}&full_content=true")["content"][-12:]
            said = [line.get("error_detail", line["event"]) for line in told]
            log.error("%s of %s failed: %s", task["task_id"], dag, said)

    def working(self, job: str) -> set[psutil.Process]:
        """The processes of a Spark job that runs now: Python and its JVM."""
        return {*orphans.processes(open_home(self.stack.home).stack, str(PROJECT / "spark_jobs" / f"{job}.py"))}

    def clear(self, run: str, dag: str = "build_views", *tasks: str) -> None:
        """Some tasks of a run, or all."""
        body = {"dry_run": False, "dag_run_id": run, "reset_dag_runs": True, "only_failed": False}
        self.ask("POST", f"/dags/{dag}/clearTaskInstances", {**body, **({"task_ids": tasks} if tasks else {})})

    def send(self, count: int) -> None:
        """Page views from a browser, and the wait until they are facts."""
        before = self.facts()
        events = [
            {"type": "pageview", "visitor": f"v{number}", "site": "a.example", "url": "https://a.example/x"}
            for number in range(count)
        ]
        post(self.stack.url("collector", f"/v1/{SOURCE}"), events)
        assert eventually(lambda: self.facts() >= before + count, SECONDS), "the events became no facts"

    def late(self, day: date) -> None:
        """One more page view of a day that is over, and the wait until it is a fact, in an epoch of its own."""
        before = self.facts()
        event = {"type": "pageview", "visitor": "late", "site": "a.example", "url": "https://a.example/x"}
        post(self.stack.url("collector", f"/v1/{SOURCE}"), [{**event, "happened_at": f"{day}T12:00:00Z"}])
        assert eventually(lambda: self.facts() > before, SECONDS), "the late event became no fact"

    def facts(self) -> int:
        """The page views in silver."""
        silver = open_table(self.layout.silver(FIRST_RELEASE, SOURCE))
        if silver is None:
            return 0
        shown = (pc.field("disposition") == "fact") & (pc.field("type") == "pageview")
        return int(silver.to_pyarrow_dataset().filter(shown).count_rows())

    def disposed(self) -> int:
        """How many records have their disposition, of all sources."""
        tables = [open_table(self.layout.silver(FIRST_RELEASE, each.name)) for each in domains()["web"].sources]
        return sum(table.to_pyarrow_dataset().count_rows() for table in tables if table is not None)

    def published(self) -> int:
        """The page views that readers see in gold."""
        return sum(self.days().values())

    def days(self) -> Counter[date]:
        """Day -> page views in gold, at its smallest bucket."""
        gold = open_table(self.layout.gold(FIRST_RELEASE, VIEW))
        counted: Counter[date] = Counter()
        if gold is None:
            return counted
        rows = gold.to_pyarrow_table(columns=["day", "views", "width"]).to_pylist()
        smallest = min((row["width"] for row in rows), default=None)
        for row in rows:
            counted[row["day"]] += row["views"] * (row["width"] == smallest)
        return counted

    def break_silver(self) -> str:
        """What a shape with an error would write: a page view of no site, after all others."""
        return self.plant({"site": None}, later=1_000_000)

    def plant(self, changed: dict[str, Any], later: int = 0, day: date | None = None) -> str:
        """One more page view (of a day) in silver, changed, so many epochs later than the one it is a copy of.

        Where that epoch is built already no stream writes any more: what stays must come by `late`.
        """
        path = self.layout.silver(FIRST_RELEASE, SOURCE)
        people = [("disposition", "=", "fact"), ("type", "=", "pageview"), ("bot", "=", False)]
        wanted = [*people, *([("day", "=", day)] if day else [])]
        fact = DeltaTable(path).to_pyarrow_table(filters=wanted).slice(0, 1)
        (copied,), planted = fact.to_pylist(), str(uuid.uuid4())
        row = {**copied, "event_id": planted, "epoch": copied["epoch"] + later, **changed}
        write_deltalake(path, pa.Table.from_pylist([row], fact.schema), mode="append")
        return planted

    def mend_silver(self, wrong: str) -> None:
        """Takes what was planted away."""
        DeltaTable(self.layout.silver(FIRST_RELEASE, SOURCE)).delete(f"event_id = '{wrong}'")


def shown(operator: Operator) -> dict[str, list[str]]:
    """Every row of gold, but for its sketches: two of the same facts need not be the same bytes."""
    said = {}
    for view in domains()["web"].views:
        gold = open_table(operator.layout.gold("r1", view.name))
        if gold is not None:
            rows = gold.to_pyarrow_table().to_pylist()
            plain = [
                [(name, cell) for name, cell in row.items() if not isinstance(cell, (bytes, dict))] for row in rows
            ]
            said[view.name] = sorted(map(str, plain))
    return said


def post(address: str, body: object) -> None:
    # What names itself a library is taken for a bot, and views count people.
    headers = {"Content-Type": "application/json", "User-Agent": BROWSER}
    request = Request(address, json.dumps(body).encode(), headers)  # noqa: S310
    with urlopen(request, timeout=30) as answer:  # noqa: S310
        assert answer.status == 202


def span(first: date, last: date) -> dict[str, str]:
    return {"from_date": f"{first}T00:00:00Z", "to_date": f"{last}T00:00:00Z"}
