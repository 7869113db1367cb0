"""web.users: dispositions of profile changes."""

from domains.web.model import USERS
from penstock.engine.suites import dispositions_of

SUITE = dispositions_of(USERS)
