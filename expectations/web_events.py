"""web.events: dispositions of page views, engagement and custom events."""

import great_expectations.expectations as gxe

from domains.web.model import EVENTS
from penstock.engine.suites import FEW_STRAY, dispositions_of

SUITE = dispositions_of(
    EVENTS,
    # Where more stray, nothing is final before somebody has looked.
    gxe.ExpectColumnValuesToBeInSet(
        column="disposition", value_set=["fact", "duplicate"], mostly=FEW_STRAY, severity="critical"
    ),
)
