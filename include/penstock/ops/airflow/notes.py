"""The note of a run, beside its state in Airflow's pages: why it was asked for, what its tasks said, and which failed.

The scheduler writes it, whoever started the run: a form, the command line, REST or the clock.
"""

from collections.abc import Iterable, Mapping
from typing import Any

# What Airflow's column holds; a plan's first sentences are what somebody reads in a list.
LONGEST, LONGEST_SAYING = 1000, 300
HEAD = "What its tasks said:"


def begun(run: Any) -> None:
    """Why it was asked for, unless somebody has noted something already."""
    why = (run.conf or {}).get("why")
    with _session(run).no_autoflush:
        if why and not run.note:
            run.note = f"Why: {why}"[:LONGEST]


def ended(run: Any) -> None:
    """What its tasks said, below whatever stands there; of a run that was cleared, anew."""
    from airflow.models.xcom import XComModel
    from sqlalchemy import select

    session = _session(run)
    with session.no_autoflush:
        # In the order in which they began; those that never did come last.
        tasks = sorted(run.get_task_instances(session=session), key=lambda task: str(task.start_date or "never"))
        returned = select(XComModel.task_id, XComModel.value).where(
            XComModel.dag_id == run.dag_id, XComModel.run_id == run.run_id, XComModel.key == "return_value"
        )
        said = dict(session.execute(returned).tuples().all())
        written = note(run.note or "", [(task.task_id, task.state, said.get(task.task_id)) for task in tasks])
        if written != (run.note or ""):
            run.note = written


def _session(run: Any) -> Any:
    """The scheduler's. What it has in hand is its own to write: we only add to it."""
    from sqlalchemy.orm import object_session

    return object_session(run)


def note(before: str, tasks: Iterable[tuple[str, str | None, Any]]) -> str:
    """The whole note, from what stood there and (task, state, what it returned)."""
    kept = before.partition(HEAD)[0].rstrip()
    lines = [line for task in tasks if (line := _line(*task))]
    return "\n".join([*([kept] if kept else []), *([HEAD, *lines] if lines else [])])[:LONGEST]


def _line(task: str, state: str | None, said: Any) -> str:
    words = " ".join(_saying(said).split())
    short = words if len(words) <= LONGEST_SAYING else words[: LONGEST_SAYING - 2] + " …"
    failed = "failed" if state in ("failed", "upstream_failed") else ""
    told = ": ".join(filter(None, [failed, short]))
    return f"{task}: {told}" if told else ""


def _saying(said: Any) -> str:
    """What a task returned, as people write it; nothing for what means nothing was done."""
    match said:
        case {"responded_by_user": Mapping() as user, "chosen_options": [choice, *_]}:
            return f"{choice}, by {user.get('name')}"
        case {"text": str() as text}:
            return text
        case Mapping():
            return ", ".join(f"{name} {value}" for name, value in said.items() if value)
        case [*parts]:
            return ", ".join(map(str, parts))
        case _:
            return str(said or "")


def verdicts(lake: str, since: Any) -> str:
    """What gates said since a step began: what they refused and why, or how many there were."""
    from penstock.lake.gates import checks

    told = checks(lake, since)
    refused = [f"{each.table} was refused: {each.reason}" for each in told if not each.passed]
    return "; ".join(refused) or (f"{len(told)} gates passed" if told else "")
