"""What each stage of the pipe has moved so far, read where a user would read it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from penstock.cockpit import Cockpit
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import domains
from penstock.ops.stack.health import fetch
from penstock.refusal import Refusal
from penstock.settings import Settings


@dataclass(frozen=True)
class Stage:
    """`moved` only grows; `wrong` is what must be zero at the end."""

    name: str
    moved: int
    told: str
    wrong: int = 0


def look(settings: Settings) -> list[Stage]:
    """Every stage now, in the order in which an event meets them."""
    return [each(settings) for each in (collected, archived, shaped, answered, booked, ran)]


def collected(settings: Settings) -> Stage:
    """The collector's own counter of acknowledged events."""
    text = (fetch(f"http://127.0.0.1:{settings.collector_port}/metrics") or b"").decode()
    lines = [line for line in text.splitlines() if line.startswith("penstock_accepted_total{")]
    events = int(sum(float(line.rpartition(" ")[2]) for line in lines))
    return Stage("collected", events, f"{events:,} events acknowledged")


def archived(settings: Settings) -> Stage:
    records = _rows(Layout(settings.lake).bronze)
    return Stage("archived", records, f"{records:,} records in bronze")


def shaped(settings: Settings) -> Stage:
    """Facts, and beside them what was rejected or a duplicate."""

    def silver(source: str) -> str:
        return Layout(settings.lake).silver(FIRST_RELEASE, source)

    facts = _rows(silver, ds.field("disposition") == "fact")
    other = _rows(silver) - facts
    return Stage("shaped", facts, f"{facts:,} facts, {other:,} rejected or duplicate")


def answered(settings: Settings) -> Stage:
    """How many views give rows when they are asked as the console asks them."""
    address = f"http://127.0.0.1:{settings.serve_port}/api/views"
    views = [each["name"] for each in _listed(fetch(address), "views")]
    rows = {view: len(_listed(fetch(f"{address}/{view}?limit=100", timeout=10), "rows")) for view in views}
    told = sum(count > 0 for count in rows.values())
    return Stage("answered", told, f"{told} of {len(views)} views answered with rows")


def booked(settings: Settings) -> Stage:
    """The books' records that are accepted, archived and disposed of. Wrong is a closed hour that does not balance."""
    # The log is asked for every hour that it holds.
    answer = fetch(f"http://127.0.0.1:{settings.serve_port}/api/ledger", timeout=30)
    hours = _listed(answer, "hours")
    # The log cannot tell what was accepted in an hour of which it holds a part.
    accepted = [hour["archived"] if hour["accepted"] is None else hour["accepted"] for hour in hours]
    disposed = [hour["facts"] + hour["rejected"] + hour["duplicates"] for hour in hours]
    balanced = sum(min(took, hour["archived"], of) for took, hour, of in zip(accepted, hours, disposed, strict=True))
    closed = [hour["balanced"] for hour in hours if not hour["open"]]
    told = f"{balanced:,} of {sum(accepted):,} records balance, and {sum(closed)} of {len(closed)} closed hours"
    return Stage("ledger", balanced, told, len(closed) - sum(closed))


def ran(settings: Settings) -> Stage:
    """Airflow's DAG runs. Wrong is a DAG that failed and has not succeeded since: somebody's page."""
    try:
        succeeded, ended = dag_runs(settings)
    except (Refusal, httpx.HTTPError):
        return Stage("orchestrated", 0, "Airflow does not answer")
    # The newest run of a DAG is the first that is seen.
    latest = {run["dag_id"]: run["state"] for run in reversed(ended)}
    ill = sorted(dag for dag, state in latest.items() if state == "failed")
    told = f"{succeeded} DAG runs succeeded, of {len(latest)} DAGs" + (f"; failed: {', '.join(ill)}" if ill else "")
    return Stage("orchestrated", succeeded, told, len(ill))


def dag_runs(settings: Settings) -> tuple[int, list[dict[str, Any]]]:
    """How many runs have succeeded in all, and the latest that ended, newest first; asked as the analyst."""
    cockpit, runs = Cockpit(settings, "analyst"), "/dags/~/dagRuns?"
    succeeded = cockpit.get(f"{runs}limit=1&state=success")["total_entries"]
    ended = cockpit.get(f"{runs}limit=100&order_by=-run_after&state=success&state=failed")["dag_runs"]
    return int(succeeded), list(ended)


def _listed(body: bytes | None, key: str) -> list[dict[str, Any]]:
    document = json.loads(body) if body else []
    rows: list[dict[str, Any]] = document.get(key, []) if isinstance(document, dict) else document
    return rows


def _rows(table: Callable[[str], str], condition: ds.Expression | None = None) -> int:
    """Rows over the tables of all sources; a table that is not there yet has none."""
    total = 0
    for source in (source for domain in domains().values() for source in domain.sources):
        try:
            total += DeltaTable(table(source.name)).to_pyarrow_dataset().count_rows(filter=condition)
        except TableNotFoundError:
            continue
    return total
