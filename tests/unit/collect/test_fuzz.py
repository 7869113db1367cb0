"""Whatever the bytes: each event is kept as it came or refused by name, and nothing else ever happens."""

import json
import zlib

from decoding import AVRO, decoded
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.collect.body import inflate
from penstock.collect.events import split
from penstock.collect.limits import Limits
from penstock.collect.refusal import Refusal

TEXT = st.text(max_size=80)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))
PIECES = VALUES.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
# JSON's own characters in any order: what a parser trips over.
JUNK = st.lists(st.sampled_from([b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"1", b"a", b"\xff", b" "])).map(
    b"".join
)
BODIES = (
    st.binary(max_size=300)
    | JUNK
    | st.lists(PIECES | JUNK, max_size=25).map(lambda them: b"[" + b", ".join(them) + b"]")
)


@settings(max_examples=1000, deadline=None)
@given(body=BODIES, kind=st.sampled_from([b"application/json", b"application/x-ndjson", AVRO]))
def test_every_event_is_kept_as_it_came_or_refused_by_name(body: bytes, kind: bytes) -> None:
    decoded(body, kind)


@settings(deadline=None)
@given(
    events=st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=10), max_size=6), max_size=20)
)
def test_however_an_encoder_writes_good_events_all_are_kept(events: list[dict[str, object]]) -> None:
    for style in ({}, {"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}):
        body = json.dumps(events, **style).encode()  # type: ignore[arg-type]
        kept, refused = split(body, False, Limits())
        assert not refused
        assert [json.loads(value) for _, value, _ in kept] == events


@settings(deadline=None)
@given(body=st.binary(max_size=200), cut=st.integers(0, 40), encoding=st.sampled_from([b"gzip", b"zstd", b"br"]))
def test_inflating_gives_bytes_or_a_named_refusal(body: bytes, cut: int, encoding: bytes) -> None:
    for sent in (body, zlib.compress(body, wbits=31)[cut:]):
        try:
            inflate(sent, encoding, Limits())
        except Refusal as refusal:
            assert refusal.reason in ("malformed", "unknown_encoding")
