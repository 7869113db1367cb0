"""The broker is dead or hangs: events are kept on disk, or refused with a date, and delivered when it is back."""

import signal
import time
from collections.abc import Iterator

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from unsealed import plain

from penstock.keys.store import Keys
from penstock.log.producer import PATIENCE
from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.mortal import MortalBroker

SCHEMA = '{"type":"record","name":"E","fields":[{"name":"visitor","type":"string"}]}'


@pytest.fixture(scope="module")
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


def test_avro_is_kept_though_only_the_dead_log_knows_its_schema_and_is_sealed_for_whom_it_names(
    mortal, collector_of, on_log, tmp_path
) -> None:
    registry = SchemaRegistryClient({"url": collector_of(mortal.address, home=tmp_path / "other").url + "/registry"})
    registry.register_schema("web.events-value", Schema(SCHEMA, "AVRO"))
    framed = AvroSerializer(registry, SCHEMA)(
        {"visitor": "ann"}, SerializationContext("web.events", MessageField.VALUE)
    )
    mortal.kill()
    collector = collector_of(mortal.address)
    answer = collector.post(framed, "application/avro")
    spooled = b"".join(segment.read_bytes() for segment in tmp_path.glob("spool/*/*.seg"))
    mortal.start()
    assert answer.status_code == 202 and spooled and b"ann" not in spooled
    mortal.ready()
    collector.drained()
    (event_id,) = answer.json()["ids"]
    message = on_log([event_id], kafka=mortal.address)[event_id]
    assert plain(tmp_path, message)[0] == framed
    assert message.key() == Keys.of_home(tmp_path).tokens("web", ["ann"])["ann"]


def test_a_broker_that_hangs_costs_a_sender_no_more_than_the_logs_patience(mortal, collector_of, on_log) -> None:
    collector = collector_of(mortal.address)
    ids = collector.post(b'{"visitor":"a"}').json()["ids"]
    mortal._process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        answers = [collector.post(b'[{"visitor":"a"},{"visitor":"b"}]') for _ in range(5)]
        took = time.monotonic() - began
    finally:
        mortal._process.send_signal(signal.SIGCONT)
    assert {answer.status_code for answer in answers} == {202}
    # Only the first of them waits for the log; this machine may be busy.
    assert took < 3 * PATIENCE
    collector.drained()
    ids += [event_id for answer in answers for event_id in answer.json()["ids"]]
    assert on_log(ids, kafka=mortal.address).keys() == set(ids)
