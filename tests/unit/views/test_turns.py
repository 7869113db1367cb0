"""Which views of a build wait for which."""

from penstock.engine.build import turns
from penstock.model.domain import Domain, domains
from penstock.model.view import Sessions, Tally


def test_tallies_of_sessions_wait_for_their_sessions_and_for_nobody_else() -> None:
    views = domains()["web"].views
    (waiting,) = [turn for turn in turns(views) if any(isinstance(view, Sessions) for group in turn for view in group)]
    sessions = [view for view in views if isinstance(view, Sessions)]
    assert waiting == [sessions, [view for view in views if isinstance(view, Tally) and view.of in sessions]]


def test_every_view_has_its_turn_once(toy: Domain) -> None:
    for views in (domains()["web"].views, toy.views):
        named = [view.name for turn in turns(views) for group in turn for view in group]
        assert sorted(named) == sorted(view.name for view in views)
