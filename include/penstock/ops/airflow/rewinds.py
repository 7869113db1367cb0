"""What a rewind would change, as a task. No JVM, changes nothing."""

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings


def plan(domain: str, point: str) -> str:
    """For the person who approves. Refuses what cannot be gone back to."""
    from penstock.engine.returning import text
    from penstock.engine.ways import CannotRewind
    from penstock.lake.restore_points import NoSuchPoint

    try:
        return text(Settings.from_env(), domain, point)
    except (CannotRewind, NoSuchPoint) as refusal:
        raise RequestRefused(str(refusal)) from refusal
