"""What a retraction or a restatement would do, as a task: facts, days, views, numbers before and after, and whom it
reaches. No JVM."""

from collections.abc import Callable
from typing import Any

from penstock.ops.airflow.errors import RequestRefused
from penstock.settings import Settings


def plan(source: str, where: str, first: str, last: str, revoke: str) -> str:
    from penstock.engine.blast import text

    return _told(text, source, where, first, last, revoke)


def restated(source: str, where: str, first: str, last: str, field: str, value: str, revoke: str) -> str:
    from penstock.engine.blast import restated

    return _told(restated, source, where, first, last, field, value, revoke)


def _told(text: Callable[..., str], *asked: Any) -> str:
    from penstock.engine.conditions import BadCondition
    from penstock.lake.layout import Layout
    from penstock.lake.statements import NoSuchStatement
    from penstock.ops.listeners import listeners

    settings = Settings.from_env()
    try:
        return f"{text(Layout(settings.lake), *asked)}\n\n{listeners(settings, asked[0])}"
    except (BadCondition, NoSuchStatement) as refusal:
        raise RequestRefused(str(refusal)) from refusal
