"""What an erasure would take, as a task: records, facts and days of each source and release. Changes nothing."""

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings


def plan(domain: str, subjects: str, operation: str) -> str:
    from penstock.engine.naming import CannotErase
    from penstock.engine.theirs import asked, text

    try:
        return text(Settings.from_env(), asked(domain, subjects, operation))
    except CannotErase as refusal:
        raise RequestRefused(str(refusal)) from refusal
