"""The steps of a rewind as tasks: what would change, and the way back. No JVM: tables go back by commits alone."""

from collections.abc import Callable

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings


def plan(domain: str, point: str) -> str:
    """What would change, for the person who approves. Refuses what cannot be gone back to."""
    from penstock.engine.returning import text

    return refusing(lambda: text(Settings.from_env(), domain, point))


def rewind(domain: str, point: str, operation: str, who: str, why: str, approved_by: str) -> str:
    """Goes back. Cleared and repeated, it goes on where it was; streams start again by themselves."""
    from penstock.engine.returning import go_back

    return refusing(lambda: go_back(Settings.from_env(), domain, point, operation, who, why, approved_by))


def refusing(step: Callable[[], str]) -> str:
    """A refusal of the engine is the request's fault, and is not tried again."""
    from penstock.engine.ways import CannotRewind
    from penstock.lake.restore_points import NoSuchPoint
    from penstock.lake.rewinds import Unfinished

    try:
        return step()
    except (CannotRewind, NoSuchPoint, Unfinished) as refusal:
        raise RequestRefused(str(refusal)) from refusal
