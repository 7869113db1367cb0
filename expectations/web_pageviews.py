"""web.pageviews: views and visitors by site and page."""

import great_expectations.expectations as gxe

from domains.web.views import PAGEVIEWS
from penstock.engine.suites import present, rows_of

SUITE = rows_of(
    PAGEVIEWS,
    *present("site", "page"),
    gxe.ExpectColumnValuesToBeBetween(column="views", min_value=1, severity="critical"),
    gxe.ExpectColumnValuesToMatchRegex(column="page", regex="^/", severity="warning"),
)
