"""The registry with the stock Avro serializers, two collectors, and schemas that do not fit."""

import time

import httpx
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext
from unsealed import plain

from penstock.keys.store import Keys

ONE = '{"type":"record","name":"E","fields":[{"name":"visitor","type":"string"}]}'
TWO = '{"type":"record","name":"E","fields":[{"name":"visitor","type":"string"},{"name":"n","type":"int","default":0}]}'
BROKEN = '{"type":"record","name":"E","fields":[{"name":"visitor","type":"string"},{"name":"m","type":"int"}]}'
CONTEXT = SerializationContext("web.events", MessageField.VALUE)


@pytest.fixture(scope="module")
def registry(collector) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": collector.url + "/registry"})


def test_stock_serializers_write_what_the_edge_takes_and_read_it_back(collector, registry, on_log) -> None:
    framed = AvroSerializer(registry, ONE)({"visitor": "avro"}, CONTEXT)
    (event_id,) = collector.post(framed, "application/avro").json()["ids"]
    message = on_log([event_id])[event_id]
    latest = registry.get_latest_version("web.events-value")
    assert dict(message.headers())["schema_id"] == str(latest.schema_id).encode()
    home = collector.settings.home
    assert AvroDeserializer(registry)(plain(home, message)[0], CONTEXT) == {"visitor": "avro"}
    # Avro is read as far as to know whose key it is sealed with.
    assert Keys.of_home(home).tokens("web", ["avro"])["avro"] == message.key()


def test_a_schema_that_cannot_read_the_last_one_is_refused(registry) -> None:
    first = registry.register_schema("fits", Schema(ONE, "AVRO"))
    assert registry.register_schema("fits", Schema(ONE, "AVRO")) == first
    assert registry.register_schema("fits", Schema(TWO, "AVRO")) != first
    assert not registry.test_compatibility("fits", Schema(BROKEN, "AVRO"))
    with pytest.raises(SchemaRegistryError) as refused:
        registry.register_schema("fits", Schema(BROKEN, "AVRO"))
    assert refused.value.http_status_code == 409
    assert registry.get_versions("fits") == [1, 2]


def test_a_level_can_be_set_for_a_subject(registry) -> None:
    registry.register_schema("free", Schema(ONE, "AVRO"))
    registry.set_compatibility("free", "NONE")
    registry.register_schema("free", Schema(BROKEN, "AVRO"))
    assert registry.get_compatibility("free") == "NONE"


def test_who_asks_again_does_not_wait_behind_a_fetch(registry) -> None:
    registry.register_schema("asked", Schema(ONE, "AVRO"))
    begun = time.perf_counter()
    assert [registry.get_compatibility() for _ in range(4)] == ["BACKWARD"] * 4
    # A fetch of a topic that has nothing new waits half a second.
    assert time.perf_counter() - begun < 1.5


def test_every_collector_knows_what_another_was_told(collector, registry, collector_of, broker) -> None:
    number = registry.register_schema("shared", Schema(ONE, "AVRO"))
    other = SchemaRegistryClient({"url": collector_of(broker).url + "/registry"})
    assert other.get_latest_version("shared").schema_id == number
    assert other.register_schema("elsewhere", Schema(ONE, "AVRO")) == number


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/subjects/nobody/versions", 404, 40401),
        ("/subjects/fits/versions/99", 404, 40402),
        ("/schemas/ids/999999", 404, 40403),
        ("/schemas/ids/x", 404, 40403),
        ("/nothing", 404, 404),
    ],
)
def test_what_is_not_there_is_told_as_the_protocol_does(collector, registry, path, status, code) -> None:
    registry.register_schema("fits", Schema(ONE, "AVRO"))
    answer = httpx.get(collector.url + "/registry" + path)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"schema": 3}', b'{"schema": "{}"}', b"{", b'{"schemaType":"JSON"}'])
def test_what_is_not_a_schema_is_a_422(collector, body) -> None:
    assert httpx.post(collector.url + "/registry/subjects/x/versions", content=body).status_code == 422
