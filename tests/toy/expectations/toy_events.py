"""toy.events: what its sender sent; the oracle of the share that may be rejected."""

import great_expectations.expectations as gxe
from domains.toy.model import EVENTS

from penstock.engine.suites import dispositions_of

SUITE = dispositions_of(
    EVENTS,
    gxe.ExpectColumnValuesToBeInSet(column="disposition", value_set=["fact"], mostly=0.967, severity="critical"),
)
