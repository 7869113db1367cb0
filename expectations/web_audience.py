"""web.audience: visitors by site as sets."""

from domains.web.views import AUDIENCE
from penstock.engine.suites import present, rows_of

SUITE = rows_of(AUDIENCE, *present("site"))
