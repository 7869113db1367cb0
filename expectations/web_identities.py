"""web.identities: dispositions of statements that two ids are one person."""

from domains.web.model import IDENTITIES
from penstock.engine.suites import dispositions_of

SUITE = dispositions_of(IDENTITIES)
