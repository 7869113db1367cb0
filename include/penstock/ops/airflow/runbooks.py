"""Where a task's runbook is read: docs/runbooks/<name>.md, shown inside Airflow by plugins/penstock_views.py."""

from penstock.ops.airflow.environment import PROJECT

FOLDER = PROJECT / "docs" / "runbooks"
PREFIX = "/penstock"


def address(name: str) -> str:
    return f"{PREFIX}/runbooks/{name}"


def runbook(name: str) -> str:
    """A task's `doc_md`. A runbook that is not there is found by the test that follows every link."""
    return f"When this fails: [runbook {name}]({address(name)})."
