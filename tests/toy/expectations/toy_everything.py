"""toy.everything: every other measure."""

from domains.toy.views import KITCHEN_SINK

from penstock.engine.suites import rows_of

SUITE = rows_of(KITCHEN_SINK)
