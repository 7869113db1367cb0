"""web.goals: custom events by name."""

from domains.web.views import GOALS
from penstock.engine.suites import present, rows_of

# A site may send no custom events.
SUITE = rows_of(GOALS, *present("site", "name"), may_be_empty=True)
