"""web.same_person: pairs of ids that were said to be one person."""

from domains.web.views import SAME
from penstock.engine.suites import Suite, present

# Nobody may have signed in yet.
SUITE = Suite(SAME.name, present("a", "b", "at"), may_be_empty=True)
