"""What cannot be replayed is refused before anything begins, with a sentence."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from toy_code import TOY, changed_code
from toy_log import ToyLog, traffic

from penstock.lake.layout import Layout
from penstock.lake.releases import Refused, registry
from penstock.lake.replays import Asked, begin, consider, estimate
from penstock.lake.retention import KEPT, Expiry, note
from penstock.model.domain import CodeRefused, Domain


@pytest.fixture
def log(tmp_path: Path, toy: Domain) -> ToyLog:
    return ToyLog(None, Layout(str(tmp_path / "lake")))


def begun(log: ToyLog, where: str = str(TOY), operation: str = "replay/1", **more: str) -> str:
    asked = Asked("toy", where, who="lina", why="wrong rule", operation=operation, **more)
    return begin(log.layout, Path(log.layout.root).parent, asked).about


def test_a_replay_has_a_name_and_an_estimate_before_it_begins(log: ToyLog) -> None:
    log.take(traffic(1, 30))
    told = estimate(log.layout, Asked("toy"))
    assert (begun(log), told["records"]) == ("r2", 30)
    assert "30 records, about" in told["text"]


def test_a_plan_says_what_it_takes_and_begins_nothing(log: ToyLog, tmp_path: Path) -> None:
    log.take(traffic(1, 30))
    asked = Asked("toy", str(TOY), first="2026-03-02", operation="replay/1")
    told = consider(log.layout, tmp_path, asked)
    assert f"toy by {TOY}" in told
    assert "from 2026-03-02 to now, and the rest is taken over): 30 records, about 0 min 20 s" in told
    assert list(registry(log.layout, "toy").releases) == ["r1"]


@pytest.mark.parametrize("part", [{"source": "toy.events"}, {"view": "toy.visits"}, {"first": "2026-03-02"}])
def test_what_has_expired_is_not_taken_over_and_a_whole_replay_takes_nothing_over(
    log: ToyLog, part: dict[str, str]
) -> None:
    log.take(traffic(1, 30))
    now = datetime.now(UTC)
    note(log.layout, Expiry("toy.events", "r1", KEPT, date(2026, 3, 2), now, now))
    with pytest.raises(Refused, match=r"Facts of toy\.events up to 2026-03-02 have expired in r1"):
        begun(log, **part)
    assert begun(log) == "r2"


def test_what_cannot_be_begun_is_refused_before_anybody_approves(log: ToyLog, tmp_path: Path) -> None:
    log.take(traffic(1, 30))
    begun(log)
    with pytest.raises(Refused, match="toy r2 is being replayed already"):
        consider(log.layout, tmp_path, Asked("toy", str(TOY), operation="replay/2"))
    # Asked again by the operation that is being done, it says so again.
    assert "30 records" in consider(log.layout, tmp_path, Asked("toy", str(TOY), operation="replay/1"))
    with pytest.raises(Refused, match=r"there are: toy\.events"):
        consider(log.layout, tmp_path, Asked("toy", source="toy.others", operation="replay/3"))


def test_the_same_operation_goes_on_with_its_own_release(log: ToyLog) -> None:
    log.take(traffic(1, 30))
    assert [begun(log), begun(log)] == ["r2", "r2"]


def test_two_replays_of_a_domain_at_once_are_refused(log: ToyLog) -> None:
    log.take(traffic(1, 10))
    begun(log)
    with pytest.raises(Refused, match="toy r2 is being replayed already"):
        begun(log, operation="replay/2")


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("views.py", "ALL = Facts(EVENTS)", "ALL = Facts(EVENT)", "does not load: NameError"),
        ("model.py", 'key="who"', 'key="what"', "its log is kept by 'who'"),
        ("model.py", '"toy.events"', '"toy.others"', "has no source 'toy.events'"),
    ],
    ids=["does not load", "changed keys", "a source is gone"],
)
def test_code_that_cannot_be_run_is_refused(
    log: ToyLog, tmp_path: Path, file: str, old: str, new: str, sentence: str
) -> None:
    log.take(traffic(1, 10))
    with pytest.raises((Refused, CodeRefused), match=sentence):
        begun(log, changed_code(tmp_path, file, old, new))
    assert list(registry(log.layout, "toy").releases) == ["r1"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"first": "2026-03-09"}, "bronze has days from 2026-03-02 to"),
        ({"first": "2026-03-02", "last": "2026-03-01"}, "is no range of days"),
        ({"first": "yesterday"}, "days of arrival, such as"),
        ({"source": "toy.others"}, "there are: toy.events"),
    ],
    ids=["no raw data", "reversed", "no day", "unknown source"],
)
def test_a_range_that_has_nothing_in_it_is_refused(log: ToyLog, more: dict[str, str], sentence: str) -> None:
    log.take(traffic(1, 10))
    with pytest.raises(Refused, match=sentence):
        begun(log, **more)


def test_a_domain_without_bronze_has_nothing_to_replay(log: ToyLog) -> None:
    with pytest.raises(Refused, match="nothing to replay"):
        begun(log)
