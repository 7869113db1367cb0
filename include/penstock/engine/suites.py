"""Finds the suite of a table, `expectations/<table, dots as underscores>.py`, and what most suites have in common.

`expectations` is a namespace: any folder of that name on the path may hold suites, so a domain brings its own.
"""

import gc
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

# Before anything imports Great Expectations.
import penstock.engine.deferred  # noqa: F401
from penstock.engine import silver
from penstock.lake.names import bronze_of
from penstock.model.domain import domains
from penstock.model.measure import Measure
from penstock.model.source import Source
from penstock.model.view import View

PROJECT = Path(__file__).parents[3]
# At 2 % rejected, a thousand records stray by half a percent.
ENOUGH_RECORDS = 1_000
# Noise is below one in thirty; more is a sender that broke.
FEW_STRAY = 0.967


class NoSuite(LookupError):
    """A table without a suite is never published: nobody has said what must hold of it."""


@dataclass(frozen=True)
class Suite:
    """What must hold of a table. `may_be_empty`: having no rows is an ordinary day for it, not a vacuous success.

    `enough`: of fewer rows than this a share says nothing, so expectations with `mostly` are left out."""

    name: str
    expectations: tuple[Any, ...]
    may_be_empty: bool = False
    enough: int = 0

    def of_few(self) -> "Suite":
        """What can be asked of too few rows for shares."""
        whole = tuple(each for each in self.expectations if getattr(each, "mostly", 1) in (None, 1))
        return replace(self, expectations=whole)

    def fresh(self) -> Any:
        """As Great Expectations wants it. It writes ids into expectations, so it gets copies."""
        from great_expectations import ExpectationSuite

        return ExpectationSuite(name=self.name, expectations=[each.copy() for each in self.expectations])


def suite_of(table: str) -> Suite:
    name = table.replace(".", "_")
    # The project's own suites are beside include/, which is what an editable install has on its path.
    if str(PROJECT) not in sys.path:
        sys.path.append(str(PROJECT))
    try:
        suite: Suite = import_module(f"expectations.{name}").SUITE
    except ModuleNotFoundError as absent:
        if absent.name not in (f"expectations.{name}", "expectations"):
            raise
        if of := archived_in(table):
            return records_of(of)
        raise NoSuite(
            f"{table} has no suite, so it is not published. Write expectations/{name}.py with a SUITE that says "
            "what must hold of its rows."
        ) from absent
    return suite


def archived_in(table: str) -> Source | None:
    """The source whose bronze this is: of records as they came, what must hold is the same for all."""
    sources = [source for domain in domains().values() for source in domain.sources]
    return next((source for source in sources if bronze_of(source.name) == table), None)


@cache
def vocabulary() -> Any:
    """Great Expectations' words. It costs seconds to import, so only a gate does, and only when it judges."""
    # A million objects for good: to look through them for garbage, as they come and when the job ends, takes a second.
    # What else is there by now is looked through no more, once.
    gc.disable()
    try:
        return import_module("great_expectations.expectations")
    finally:
        gc.freeze()
        gc.enable()


def vocabulary_beside() -> None:
    """Imports it while others work, and a core is idle: else the first gate waits for it."""
    Thread(target=vocabulary, name="vocabulary", daemon=True).start()


def rows_of(view: View, *more: Any, may_be_empty: bool = False) -> Suite:
    """The suite of a gold table: what follows from the view itself, and `more` that people know of it."""
    counts = tuple(name for name, measure in view_measures(view).items() if measure.kind == "count")
    return Suite(view.name, (*present("bucket", "day"), *never_negative(*counts), *more), may_be_empty)


def dispositions_of(source: Source, *more: Any) -> Suite:
    """The suite of a silver table: every record has one disposition, and every refusal a declared reason."""
    gxe = vocabulary()
    reasons = [*source.reasons, *silver.REASONS]
    named = gxe.ExpectColumnValuesToBeInSet(column="reason", value_set=reasons, severity="critical")
    known = gxe.ExpectColumnValuesToBeInSet(
        column="disposition", value_set=["fact", "rejected", "duplicate"], severity="critical"
    )
    placed = present("partition", "offset", "epoch", "received_at", "day", "disposition")
    return Suite(source.name, (*placed, known, named, *more), enough=ENOUGH_RECORDS)


def records_of(source: Source, *more: Any) -> Suite:
    """The suite of a bronze table, whose rows carry their envelope: each record has a place, and has it alone."""
    gxe = vocabulary()
    once = gxe.ExpectCompoundColumnsToBeUnique(column_list=["partition", "offset"], severity="critical")
    placed = (*present("timestamp", "day"), *never_negative("partition", "offset", "epoch"))
    # Who writes past the collector may leave these out: nothing can be made of no value, nothing keeps the order of no
    # key, and nothing marks a copy or seals a name where there is no envelope.
    sent = tuple(
        gxe.ExpectColumnValuesToNotBeNull(column=column, mostly=FEW_STRAY, severity="warning")
        for column in ("value", "key", "event_id")
    )
    return Suite(bronze_of(source.name), (*placed, once, *sent, *more), enough=ENOUGH_RECORDS)


def view_measures(view: View) -> Mapping[str, Measure]:
    measures: Mapping[str, Measure] = getattr(view, "measures", {})
    return measures


def present(*columns: str) -> tuple[Any, ...]:
    gxe = vocabulary()
    return tuple(gxe.ExpectColumnValuesToNotBeNull(column=column, severity="critical") for column in columns)


def never_negative(*columns: str) -> tuple[Any, ...]:
    """Counts and positions: a null is as wrong as a negative."""
    gxe = vocabulary()
    bounds = (gxe.ExpectColumnValuesToBeBetween(column=column, min_value=0, severity="critical") for column in columns)
    return (*present(*columns), *bounds)
