"""web.events: dispositions of page views, engagement and custom events."""

import great_expectations.expectations as gxe

from domains.web.model import EVENTS
from penstock.engine.suites import dispositions_of

SUITE = dispositions_of(
    EVENTS,
    # More than one in twenty rejected is a sender that broke, not noise.
    gxe.ExpectColumnValuesToBeInSet(
        column="disposition", value_set=["fact", "duplicate"], mostly=0.95, severity="warning"
    ),
)
