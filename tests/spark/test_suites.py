"""Every table that is gated has a suite, and every expectation says what its failure means.

Needs no session; here Great Expectations, which costs seconds, is imported anyway.
"""

import pytest

from penstock.engine.suites import suite_of
from penstock.lake.names import bronze_of
from penstock.model.domain import domains

BRONZE = [bronze_of(source.name) for domain in domains().values() for source in domain.sources]
TABLES = [*BRONZE, *(each.name for domain in domains().values() for each in (*domain.sources, *domain.views))]


@pytest.mark.parametrize("table", TABLES)
def test_a_source_and_a_view_have_a_suite_of_their_name_whose_severities_are_said(table: str) -> None:
    suite = suite_of(table)
    # Great Expectations takes `critical` where nothing is said: nobody decided that.
    unsaid = [str(each) for each in suite.expectations if "severity" not in each.__fields_set__]
    assert (suite.name, bool(suite.expectations), unsaid) == (table, True, [])
