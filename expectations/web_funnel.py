"""web.funnel: how far sessions came."""

from domains.web.views import FUNNEL
from penstock.engine.suites import present, rows_of

SUITE = rows_of(FUNNEL, *present("site"))
