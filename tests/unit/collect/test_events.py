"""A body is split into events; each keeps its own bytes, and a bad one does not take the others with it."""

import orjson
import pytest

from penstock.collect.events import split
from penstock.collect.limits import Limits
from penstock.collect.refusal import Refusal

KIB = 1024
LIMITS = Limits(string=100, event=1000, values=3000)


def wide(keys: int) -> bytes:
    return orjson.dumps({f"name of a key {number}": number for number in range(keys)})


def kept(body: bytes, lines: bool = False) -> list[tuple[int, bytes]]:
    return [(index, value) for index, value, _ in split(body, lines, LIMITS)[0]]


def refused(body: bytes, lines: bool = False) -> list[tuple[int, str]]:
    return [(one.index, one.reason) for one in split(body, lines, LIMITS)[1]]


@pytest.mark.parametrize(
    "value",
    [
        b'{"a":1}',
        b'{"a": 1, "b" : [ 1.10, 2e3 ]}',
        b'{"a":"\\u00e9\\/"}',
        b'{"big":123456789012345678901234567890}',
        '{"ключ":"значение"}'.encode(),
        b'{"nested":{"a":[{"b":",]}\\""}]}}',
    ],
)
def test_an_event_keeps_its_own_bytes_however_it_is_sent(value: bytes) -> None:
    assert kept(value) == [(0, value)]
    assert kept(b" [ " + value + b" ,\n" + value + b"] ") == [(0, value), (1, value)]
    assert kept(value + b"\r\n\n" + value, lines=True) == [(0, value), (1, value)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"a":1,"a":2}', "duplicate_key"),
        (b'{"a":{"b":1,"\\u0062":2}}', "duplicate_key"),
        (b'{"a":NaN}', "malformed"),
        (b'{"a":Infinity}', "malformed"),
        (b'{"a":1e999}', "malformed"),
        (b'{"a":"\\ud800"}', "malformed"),
        (b'{"a":"\xff"}', "invalid_utf8"),
        (b'{"a":"\x01"}', "malformed"),
        (b'{"a":1} {"b":2}', "malformed"),
        (b'{"a":01}', "malformed"),
        (b"3", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b"[]", "not_an_object"),
        (b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", "too_deep"),
        (b'{"a":' + b"[" * 1500 + b"]" * 1500 + b"}", "event_too_large"),
        (b'{"a":"' + b"x" * 101 + b'"}', "string_too_long"),
        (b'{"' + b"k" * 101 + b'":1}', "string_too_long"),
        (b'{"a":"' + "é".encode() * 60 + b'"}', "string_too_long"),
        (b'{"a":"' + b"x" * 99 + b'","b":"' + b"y" * 900 + b'"}', "event_too_large"),
    ],
)
def test_a_bad_event_is_named_and_its_neighbours_are_kept(bad: bytes, reason: str) -> None:
    good = b'{"ok":1}'
    body = b"[" + good + b"," + bad + b"," + good + b"]"
    expected = "too_deep" if b"[" * 1500 in bad else reason
    assert refused(body) == [(1, expected)]
    assert kept(body) == [(0, good), (2, good)]
    assert refused(good + b"\n" + bad, lines=True) == [(1, expected)]


def test_keys_are_counted_through_all_levels() -> None:
    limits = Limits(keys=4)
    assert not split(b'{"a":1,"b":{"c":":::::::","d":2}}', False, limits)[1]
    assert split(b'{"a":1,"b":{"c":1,"d":2,"e":3}}', False, limits)[1][0].reason == "too_many_keys"


def test_depth_32_is_kept() -> None:
    body = b'{"a":' + b"[" * 31 + b"]" * 31 + b"}"
    assert kept(body) == [(0, body)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"[" + b",".join([b"{}"] * 501) + b"]", "too_many_events"),
        (b"[" + b", ".join([b"{}"] * 501) + b"]", "too_many_events"),
        (b'[{"a":1},{"b":2}', "malformed"),
        (b'[{"a":1}]]', "malformed"),
        (b'[{"a":1}] x', "malformed"),
        (b'["abc', "malformed"),
        (b"[" * 2900, "malformed"),
        (b"[[]," * 3001, "too_many_values"),
        (b'"' * 12001, "too_many_values"),
    ],
)
def test_a_body_without_clear_bounds_is_refused_whole(body: bytes, reason: str) -> None:
    with pytest.raises(Refusal) as refusal:
        split(body, False, LIMITS)
    assert refusal.value.reason == reason


def test_500_events_in_a_request_are_kept() -> None:
    assert len(kept(orjson.dumps([{"n": n} for n in range(500)]))) == 500


@pytest.mark.parametrize(
    ("limit", "published"),
    [
        ("body", 1024 * KIB),
        ("inflated", 4 * 1024 * KIB),
        ("events", 500),
        ("depth", 32),
        ("keys", 500),
        ("string", 32 * KIB),
    ],
)
def test_the_limits_are_those_that_are_published(limit: str, published: int) -> None:
    assert getattr(Limits(), limit) == published


@pytest.mark.parametrize(
    ("most", "more", "reason"),
    [
        (b'{"a":' + b"[" * 31 + b"]" * 31 + b"}", b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", "too_deep"),
        (wide(500), wide(501), "too_many_keys"),
        (b'{"a":"' + b"x" * 32 * KIB + b'"}', b'{"a":"' + b"x" * (32 * KIB + 1) + b'"}', "string_too_long"),
    ],
    ids=["depth", "keys", "string"],
)
def test_an_event_at_its_limit_is_kept_and_one_beyond_it_is_not(most: bytes, more: bytes, reason: str) -> None:
    kept_, refused_ = split(most + b"\n" + more, True, Limits())
    assert ([index for index, _, _ in kept_], [(one.index, one.reason) for one in refused_]) == ([0], [(1, reason)])
