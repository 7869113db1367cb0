"""web.engagement: how long and how far pages were read."""

from domains.web.views import ENGAGED
from penstock.engine.suites import present, rows_of

# Servers that send page views report no engagement.
SUITE = rows_of(ENGAGED, *present("site", "page"), may_be_empty=True)
