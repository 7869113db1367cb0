"""A suite about a column that the table does not have."""

from penstock.engine.suites import Suite, present

SUITE = Suite("toy.misspelt", present("id", "no_such_column"))
