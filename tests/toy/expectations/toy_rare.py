"""A table that may have no rows on an ordinary day."""

from penstock.engine.suites import Suite, present

SUITE = Suite("toy.rare", present("id"), may_be_empty=True)
