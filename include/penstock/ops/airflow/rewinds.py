"""Restore points and what a rewind to one would change, as tasks. No JVM."""

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


def take(who: str, why: str) -> str:
    """A restore point of this moment: its id."""
    from penstock.engine.pinning import take
    from penstock.lake.layout import Layout

    return take(Layout(Settings.from_env().lake), "hand", who, why).id
