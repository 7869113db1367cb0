"""web.visits: sessions by site."""

import great_expectations.expectations as gxe

from domains.web.views import VISITS_BY_SITE
from penstock.engine.suites import present, rows_of

SUITE = rows_of(
    VISITS_BY_SITE,
    *present("site"),
    gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A="visits", column_B="bounces", or_equal=True, severity="critical"
    ),
)
