"""web.views_by_user: page views of users who were signed in."""

from domains.web.views import VIEWS_BY_USER
from penstock.engine.suites import present, rows_of

# A site without sign-in has none.
SUITE = rows_of(VIEWS_BY_USER, *present("site", "user"), may_be_empty=True)
