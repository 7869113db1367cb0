"""web.experiments: conversion by variant."""

from domains.web.views import EXPERIMENTS
from penstock.engine.suites import present, rows_of

# No experiment may be running.
SUITE = rows_of(EXPERIMENTS, *present("site", "experiment", "variant"), may_be_empty=True)
