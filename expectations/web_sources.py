"""web.sources: where visitors come from."""

from domains.web.views import SOURCES
from penstock.engine.suites import present, rows_of

# Every arrival is named, if only `Direct`.
SUITE = rows_of(SOURCES, *present("site", "referrer_source", "channel"))
