"""Where a task's runbook is read: docs/runbooks/<name>.md, shown inside Airflow by plugins/penstock_views.py."""

import re

from penstock.ops.airflow.environment import PROJECT

FOLDER = PROJECT / "docs" / "runbooks"
PREFIX = "/penstock"


def address(name: str) -> str:
    return f"{PREFIX}/runbooks/{name}"


def runbook(name: str) -> str:
    """A task's `doc_md`. A runbook that is not there is found by the test that follows every link."""
    return f"When this fails: [runbook {name}]({address(name)})."


def linked(doc: str) -> str:
    """The address that a task's `doc_md` links: what its alert links too."""
    found = re.search(rf"\(({PREFIX}/runbooks/[\w-]+)\)", doc)
    return found[1] if found else f"{PREFIX}/runbooks"
