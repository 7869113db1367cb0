"""What every job that changes the lake for a person has in common: who signs it, its audit entry, its exit status."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from penstock.engine.lineage import Touched, told
from penstock.lake import audit
from penstock.lake.layout import Layout
from penstock.settings import Settings

REFUSED = 3


def signed(doc: str | None) -> argparse.ArgumentParser:
    """The parser of such a job: which operation it is, who wants it, why, and who approved."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operation", required=True, help="its name for ever: asked again, it does what is left")
    for name in ("who", "why", "approved-by"):
        parser.add_argument(f"--{name}", default="")
    return parser


def book(
    layout: Layout,
    asked: argparse.Namespace,
    what: str,
    about: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    """Writes into the audit what was done to what, by whom and why."""
    entry = audit.Entry(asked.operation, what, about, asked.who, asked.why, asked.approved_by, before, after)
    audit.record(layout, entry)


def operated(
    job: str, tables: Callable[[Layout], Iterable[str]], work: Callable[[], str], *refusals: type[Exception]
) -> int:
    """The exit status of a job that changes some of these tables for a person; which, is told as its lineage."""
    settings = Settings.from_env()

    def changed(touched: Touched) -> int:
        with touched.changing(partial(tables, Layout(settings.lake))):
            return status(work, *refusals)

    return told(settings, job, changed)


def status(work: Callable[[], str], *refusals: type[Exception]) -> int:
    """A job's exit status: it prints what was done, or why it was refused."""
    try:
        print(work())  # noqa: T201
    except refusals as refused:
        print(refused, file=sys.stderr)  # noqa: T201
        return REFUSED
    return 0
