"""What the collector answers is what the log has: bodies, envelope, key, ids; and each refusal by its name."""

import gzip
import uuid

import httpx
import orjson
import pytest
import zstandard
from unsealed import plain

from penstock.keys.store import Keys

VIEW = b'{"type": "pageview", "site":"a.example", "visitor":"v7", "url":"https://a.example/x"}'


def test_an_event_is_on_the_log_sealed_byte_for_byte_with_its_envelope(collector, on_log) -> None:
    answer = collector.post(
        VIEW, user_agent="browser/1", dnt="1", x_penstock_consent="analytics", x_forwarded_for="9.8.7.6"
    )
    assert answer.status_code == 202 and answer.json()["accepted"] == 1
    (event_id,) = answer.json()["ids"]
    assert uuid.UUID(event_id).version == 7
    message = on_log([event_id])[event_id]
    envelope = dict(message.headers())
    (token,) = Keys.of_home(collector.settings.home).tokens("web", ["v7"]).values()
    assert (plain(collector.settings.home, message), message.key()) == ((VIEW, b"browser/1"), token)
    assert b"a.example" not in message.value()
    assert int(envelope.pop("received_at")) > 1_700_000_000_000
    assert envelope == {
        "event_id": event_id.encode(),
        "source": b"web.events",
        "content_type": b"application/json",
        "collector": b"0.1.0",
        "client_address": b"127.0.0.0",
        "subjects": token,
        "consent": b"analytics,dnt",
    }


ENCODERS = {"identity": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
def test_batches_arrive_as_single_records(collector, on_log, encoding, kind) -> None:
    ids = [f"b-{uuid.uuid4()}" for _ in range(3)]
    events = [orjson.dumps({"event_id": event_id, "visitor": 7}) for event_id in ids]
    body = b"\n".join(events) if "ndjson" in kind else b"[" + b", ".join(events) + b"]"
    answer = collector.post(ENCODERS[encoding](body), kind, content_encoding=encoding)
    assert answer.json() == {"accepted": 3, "ids": ids}
    found = on_log(ids)
    assert [plain(collector.settings.home, found[event_id])[0] for event_id in ids] == events
    assert len({found[event_id].key() for event_id in ids}) == 1


def test_one_bad_event_of_a_batch_is_named_by_its_index(collector, on_log) -> None:
    answer = collector.post(b'[{"visitor":"a"},{"visitor":["a"]},{"a":1,"a":1},{"visitor":"b"}]')
    assert answer.status_code == 202
    assert [(one["index"], one["reason"]) for one in answer.json()["refused"]] == [(1, "bad_key"), (2, "duplicate_key")]
    assert len(on_log(answer.json()["ids"])) == 2


def test_avro_of_no_known_schema_is_kept_with_its_schema_id(collector, on_log) -> None:
    answer = collector.post(b"\x00\x00\x00\x00\x2a" + b"\x02hi", "application/avro")
    (event_id,) = answer.json()["ids"]
    message = on_log([event_id])[event_id]
    envelope = dict(message.headers())
    assert plain(collector.settings.home, message)[0] == b"\x00\x00\x00\x00\x2a\x02hi"
    assert (envelope["content_type"], envelope["schema_id"]) == (b"application/avro", b"42")


@pytest.mark.parametrize(
    ("body", "kind", "to", "status", "reason"),
    [
        (b"{", "application/json", "web.events", 400, "malformed"),
        (b"", "application/json", "web.events", 400, "malformed"),
        (b"[]", "application/json", "web.events", 400, "malformed"),
        (b"[1,2]", "application/json", "web.events", 400, "not_an_object"),
        (b"{}", "application/json", "web.nothing", 404, "unknown_source"),
        (b"{}", "image/png", "web.events", 415, "unknown_type"),
        (b'{"event_id":7}', "application/json", "web.events", 422, "bad_event_id"),
        (b"x" * (1024 * 1024 + 1), "application/json", "web.events", 413, "body_too_large"),
        (b"\x01avro??", "application/avro", "web.events", 400, "malformed"),
    ],
)
def test_a_refusal_is_a_problem_document(collector, body, kind, to, status, reason) -> None:
    answer = collector.post(body, kind, to)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["type"] == f"urn:penstock:refused:{reason}"
    assert f'penstock_refused_total{{reason="{reason}"}}' in httpx.get(collector.url + "/metrics").text


def test_a_pixel_is_an_event(collector, on_log) -> None:
    event = {"event_id": f"p-{uuid.uuid4()}", "type": "pageview", "visitor": "p", "url": "https://a.example/ä?b=c&d"}
    answer = httpx.get(f"{collector.url}/v1/web.events/pixel.gif", params=event, headers={"user-agent": "mail/1"})
    assert answer.headers["content-type"] == "image/gif"
    assert answer.content[:6] == b"GIF89a"
    value, agent = plain(collector.settings.home, on_log([event["event_id"]])[event["event_id"]])
    assert (orjson.loads(value), agent) == (event, b"mail/1")


def test_pages_of_any_site_may_write_where_no_keys_are_set(collector) -> None:
    headers = {"origin": "https://a.example", "access-control-request-method": "POST"}
    preflight = httpx.options(f"{collector.url}/v1/web.events", headers=headers)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "https://a.example"
    assert (
        collector.post(VIEW, origin="https://a.example").headers["access-control-allow-origin"] == "https://a.example"
    )


def test_health_and_readiness_are_told(collector) -> None:
    assert httpx.get(collector.url + "/healthz").json() == {"alive": True}
    assert httpx.get(collector.url + "/readyz").json()["ready"]
