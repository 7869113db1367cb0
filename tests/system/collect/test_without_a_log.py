"""The broker is dead: events are kept on disk, or refused with a date, and delivered when it is back."""

from collections.abc import Iterator

import pytest

from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.mortal import MortalBroker


@pytest.fixture
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MortalBroker]:
    broker = MortalBroker(tmp_path_factory.mktemp("mortal")).ready()
    ensure(broker.address, [source("web.events")])
    yield broker
    broker.kill()


def test_events_wait_in_the_spool_through_a_restart_and_a_full_one_says_when_to_come_back(
    mortal, collector_of, on_log, tmp_path
) -> None:
    (tmp_path / "collector.toml").write_text("[limits]\nspool = 2000\n")
    mortal.kill()
    collector = collector_of(mortal.address)
    answers = [collector.post(b'[{"visitor":"a"},{"visitor":"b"}]') for _ in range(20)]
    assert {answer.status_code for answer in answers} == {202, 503}
    assert int(answers[-1].headers["retry-after"]) > 0
    assert collector.stop() == 0
    mortal.start()
    mortal.ready()
    collector.start().ready().drained()
    ids = [event_id for answer in answers if answer.is_success for event_id in answer.json()["ids"]]
    assert on_log(ids, kafka=mortal.address).keys() == set(ids)
    assert collector.post(b'{"visitor":"a"}').status_code == 202
