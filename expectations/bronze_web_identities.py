"""bronze.web.identities: records that two ids are one person, as they came."""

from domains.web.model import IDENTITIES
from penstock.engine.suites import records_of

SUITE = records_of(IDENTITIES)
