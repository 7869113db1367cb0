"""web.bots: page views of known bots."""

from domains.web.views import BOTS_BY_NAME
from penstock.engine.suites import present, rows_of

# A new site is not known to bots yet.
SUITE = rows_of(BOTS_BY_NAME, *present("site"), may_be_empty=True)
