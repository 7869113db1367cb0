"""toy.events_by_what: what was done, and how much."""

from domains.toy.views import EVENTS_BY_WHAT

from penstock.engine.suites import present, rows_of

SUITE = rows_of(EVENTS_BY_WHAT, *present("what"))
