"""web.screens: page views by screen and language."""

from domains.web.views import SCREENS
from penstock.engine.suites import present, rows_of

# Servers that send page views know no screens.
SUITE = rows_of(SCREENS, *present("site"))
