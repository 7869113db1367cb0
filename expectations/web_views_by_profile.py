"""web.views_by_profile: page views of users who were signed in, by what their profile had said."""

from domains.web.views import VIEWS_BY_PROFILE
from penstock.engine.suites import present, rows_of

# A site without sign-in has none.
SUITE = rows_of(VIEWS_BY_PROFILE, *present("site"), may_be_empty=True)
