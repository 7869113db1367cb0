"""Raw sockets, bombs, slow senders, forged addresses, many requests: bounded, named, and never a 5xx but 503."""

import gzip
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from places import database
from unsealed import plain

from penstock.log.topics import ensure
from penstock.model.domain import source
from penstock.ops.load.bomb import bomb, growth

RULES = """
trusted_proxies = ["127.0.0.0/8"]
[limits]
header_seconds = 1
body_seconds = 1
[keys.shop]
secret = "shop-secret"
sources = ["web.events"]
origins = ["https://shop.example"]
[keys.slow]
secret = "slow-secret"
events_per_second = 1
"""
HEAD = (
    b"POST /v1/web.events HTTP/1.1\r\nhost: x\r\n"
    b"content-type: application/json\r\nauthorization: Bearer shop-secret\r\n"
)


@pytest.fixture(scope="module")
def guarded(broker, collectors, tmp_path_factory) -> Iterator[object]:
    """A collector with write keys, trusted proxies, short deadlines and a database of places."""
    home: Path = tmp_path_factory.mktemp("guarded")
    (home / "collector.toml").write_text(RULES)
    ensure(broker, [source("web.events")])
    return collectors(broker, home=home, places=str(database(home / "world.mmdb")))


def spoken(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """What the collector answers to these bytes, until it closes or ten seconds are over."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        try:
            for part in parts:
                line.sendall(part)
                time.sleep(pause)
            line.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        answer = b""
        try:
            while chunk := line.recv(65536):
                answer += chunk
        except OSError:
            pass
        return answer


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"400"),
        (b"GE T / HTTP/1.1\r\n\r\n", b"400"),
        (HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n{}", b"400"),
        (HEAD + b"content-length: -5\r\n\r\n{}", b"400"),
        (HEAD + b"content-length: 99999999999999999999999\r\n\r\n{}", b"400"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n", b"400"),
        (HEAD + b"content-length: 9000000\r\n\r\n{}", b"413"),
        (HEAD + b"x: " + b"y" * 20_000 + b"\r\n\r\n", b"431"),
        (HEAD + b"x: " + b"y" * 200_000, b"431"),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n", b"431"),
        (b"GET /v1/web.events/pixel.gif?a=%ff&key=x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", b"40"),
        (b"GET /../../etc/passwd HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", b"404"),
        (b"BREW / HTTP/1.1\r\nhost: x\r\n\r\n", b"40"),
    ],
)
def test_bytes_that_are_not_a_good_request_are_refused_by_name(guarded, said, status) -> None:
    answer = spoken(guarded.settings.collector_port, said)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert httpx.get(guarded.url + "/healthz").is_success


@pytest.mark.parametrize(
    "parts",
    [(b"",) * 30, (b"GET /", *(b"a",) * 40), (HEAD + b"content-length: 99\r\n\r\n", *(b" ",) * 40)],
    ids=["silent", "slow-headers", "slow-body"],
)
def test_slow_senders_are_cut_off(guarded, parts) -> None:
    began = time.monotonic()
    answer = spoken(guarded.settings.collector_port, *parts, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 408") or answer == b""
    assert time.monotonic() - began < 9


def test_who_opens_too_many_connections_is_told_to_come_back(broker, collector_of, tmp_path) -> None:
    (tmp_path / "collector.toml").write_text("[limits]\nconnections_per_address = 2\n")
    port = collector_of(broker).settings.collector_port
    lines = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(2)]
    assert spoken(port).startswith(b"HTTP/1.1 429")
    for line in lines:
        line.close()


def test_too_many_connections_in_all_are_told_to_come_back_and_the_others_are_served(
    broker, collector_of, tmp_path
) -> None:
    (tmp_path / "collector.toml").write_text("[limits]\nconnections = 2\n")
    collector = collector_of(broker)
    with httpx.Client(base_url=collector.url) as early:
        assert early.get("/healthz").is_success
        with socket.create_connection(("127.0.0.1", collector.settings.collector_port), timeout=10):
            late = spoken(collector.settings.collector_port)
            assert late.startswith(b"HTTP/1.1 429") and b"retry-after" in late
            assert 'penstock_refused_total{reason="too_fast"} 1' in early.get("/metrics").text
        assert early.post("/v1/web.events", json={"visitor": "a"}).status_code == 202


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_stopped_at_the_limit_and_takes_no_memory(guarded, encoding) -> None:
    sent = bomb(encoding)
    with growth(psutil.Process(guarded.process.pid)) as grown:
        answers = [guarded.post(sent, authorization="Bearer shop-secret", content_encoding=encoding) for _ in range(3)]
    assert {answer.json()["type"] for answer in answers} == {"urn:penstock:refused:inflated_too_large"}
    assert max(grown) < 64 * 1024 * 1024


def test_what_grows_when_it_is_parsed_is_refused_before(guarded) -> None:
    body = b"[" + b"[]," * 1_390_000 + b"[]]"
    answer = guarded.post(gzip.compress(body), authorization="Bearer shop-secret", content_encoding="gzip")
    assert answer.json()["type"] == "urn:penstock:refused:too_many_values"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer shop-secret"}, 202),
        ({"authorization": "Bearer shop-secret", "origin": "https://shop.example"}, 202),
        ({"authorization": "Bearer shop-secret", "origin": "https://evil.example"}, 401),
    ],
)
def test_a_write_key_opens_its_sources_to_its_origins(guarded, headers, status) -> None:
    answer = guarded.post(b'{"visitor":"a"}', **headers)
    assert answer.status_code == status
    allowed = answer.headers.get("access-control-allow-origin")
    assert allowed == ("https://shop.example" if headers.get("origin") == "https://shop.example" else None)


@pytest.mark.parametrize(("origin", "allowed"), [("https://shop.example", True), ("https://evil.example", False)])
def test_a_browser_hears_before_it_sends_which_pages_may_write(guarded, origin: str, allowed: bool) -> None:
    asked = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "prefer"}
    told = httpx.options(f"{guarded.url}/v1/web.events", headers=asked)
    assert told.status_code == 204
    headers = {name: value for name, value in told.headers.items() if name.startswith("access-control-")}
    assert headers.get("access-control-allow-origin") == (origin if allowed else None)
    assert ("prefer" in headers.get("access-control-allow-headers", "")) == allowed
    assert bool(headers) == allowed


def test_a_key_of_one_source_does_not_open_another(guarded) -> None:
    assert guarded.post(b"{}", to="web.users", authorization="Bearer shop-secret").status_code == 401


def test_a_key_that_is_too_fast_is_told_when_to_come_back(guarded) -> None:
    batch = b"[" + b",".join([b'{"visitor":"a"}'] * 300) + b"]"
    first, second = (guarded.post(batch, authorization="Bearer slow-secret") for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 429)
    assert int(second.headers["retry-after"]) > 100


def test_only_a_trusted_proxy_may_say_whose_address_it_is_and_it_is_looked_up_and_cut(guarded, on_log) -> None:
    answer = guarded.post(
        b'{"visitor":"a"}', authorization="Bearer shop-secret", x_forwarded_for="203.0.113.9, 198.51.100.77"
    )
    (event_id,) = answer.json()["ids"]
    message = on_log([event_id])[event_id]
    envelope = dict(message.headers())
    assert (envelope["client_address"], envelope["client_place"]) == (b"198.51.100.0", "SE/Skåne".encode())
    assert b"198.51.100.77" not in b"".join([plain(guarded.settings.home, message)[0], *envelope.values()])
