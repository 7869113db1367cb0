"""web.campaigns: page views by the utm_ tags of their address."""

from domains.web.views import CAMPAIGNS
from penstock.engine.suites import present, rows_of

# No campaign may be running.
SUITE = rows_of(CAMPAIGNS, *present("site", "utm_campaign"), may_be_empty=True)
