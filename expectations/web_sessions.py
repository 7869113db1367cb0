"""web.sessions: what one visitor did without 30 minutes of silence."""

import great_expectations.expectations as gxe

from domains.web.views import SESSIONS
from penstock.engine.suites import present, rows_of

SUITE = rows_of(
    SESSIONS,
    *present("site", "visitor", "started", "ended"),
    gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A="ended", column_B="started", or_equal=True, severity="critical"
    ),
)
