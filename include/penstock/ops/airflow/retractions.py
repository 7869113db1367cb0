"""What a retraction would do, as a task: facts, days, views, numbers before and after. No JVM, changes nothing."""

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings


def plan(source: str, where: str, first: str, last: str, revoke: str) -> str:
    from penstock.engine.blast import text
    from penstock.engine.matching import BadCondition
    from penstock.lake.layout import Layout
    from penstock.lake.statements import NoSuchStatement

    try:
        return text(Layout(Settings.from_env().lake), source, where, first, last, revoke)
    except (BadCondition, NoSuchStatement) as refusal:
        raise RequestRefused(str(refusal)) from refusal
