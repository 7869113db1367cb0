"""Bronze knows which records name somebody, in whichever field."""

from sealed_log import SealedLog
from toy_log import said

from penstock.engine.naming import naming
from penstock.keys.store import Keys
from penstock.lake.layout import Layout
from penstock.model.domain import Domain
from penstock.settings import Settings


def test_exactly_the_records_that_name_them_are_found(toy: Domain, settings: Settings) -> None:
    log = SealedLog(None, Layout(settings.lake), home=settings.home)
    log.take([said("ann", id="e0"), said("bob", id="e1"), said("ann", id="e2", partition=1), said(None, id="e3")])
    ann = Keys.of_home(settings.home).tokens("toy", ["ann"]).values()
    found = naming(settings, toy.sources[0], [*ann]).to_pylist()
    assert sorted((row["partition"], row["offset"]) for row in found) == [(0, 0), (1, 0)]


def test_where_nothing_is_archived_nobody_is_named(toy: Domain, settings: Settings) -> None:
    assert naming(settings, toy.sources[0], [bytes(16)]).num_rows == 0
