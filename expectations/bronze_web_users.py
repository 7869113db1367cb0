"""bronze.web.users: records of profile changes, as they came."""

from domains.web.model import USERS
from penstock.engine.suites import records_of

SUITE = records_of(USERS)
