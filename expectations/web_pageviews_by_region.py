"""web.pageviews_by_region: views, visitors and load times by region."""

import great_expectations.expectations as gxe

from domains.web.views import PAGEVIEWS_BY_REGION
from penstock.engine.suites import present, rows_of

SUITE = rows_of(
    PAGEVIEWS_BY_REGION,
    *present("site"),
    gxe.ExpectColumnValuesToBeBetween(column="views", min_value=1, severity="critical"),
    # Senders may hide where a visitor is; most do not, so many nulls mean that the table of time zones is stale.
    gxe.ExpectColumnValuesToNotBeNull(column="region", mostly=0.5, severity="warning"),
)
