"""bronze.web.events: records of page views, engagement and custom events, as they came."""

import great_expectations.expectations as gxe

from domains.web.model import EVENTS
from penstock.engine.suites import records_of

SUITE = records_of(
    EVENTS,
    # Servers may send Avro; browsers never do. A site whose traffic is mostly servers' is worth a look, and no more.
    gxe.ExpectColumnValuesToBeInSet(column="content_type", value_set=["application/json"], mostly=0.5, severity="info"),
)
