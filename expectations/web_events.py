"""web.events: dispositions of page views, engagement and custom events."""

import great_expectations.expectations as gxe

from domains.web.model import EVENTS
from penstock.engine.suites import dispositions_of

SUITE = dispositions_of(
    EVENTS,
    # Noise is below one in thirty. More is a sender that broke: nothing is final before somebody has looked.
    gxe.ExpectColumnValuesToBeInSet(
        column="disposition", value_set=["fact", "duplicate"], mostly=0.967, severity="critical"
    ),
)
