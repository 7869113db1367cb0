"""web.landings: sessions by their first and last page."""

from domains.web.views import LANDINGS
from penstock.engine.suites import present, rows_of

SUITE = rows_of(LANDINGS, *present("site"))
