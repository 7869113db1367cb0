"""The law of the decode path, for every fuzzer: each event is kept as it came or refused by name, and nothing else."""

import json

from penstock.collect.body import inflate
from penstock.collect.envelope import common, framed, seal
from penstock.collect.events import split
from penstock.collect.limits import Limits
from penstock.collect.refusal import REASONS, Refusal
from penstock.model.source import Source

# So small that a fuzzer meets every limit.
LIMITS = Limits(inflated=2000, string=60, event=400, depth=5, keys=8, events=20, id_length=16, key_bytes=16)
SOURCE = Source("toy.events", key="visitor", fields=(), reasons=())
AVRO = b"application/avro"


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def never(constant: str) -> None:
    raise AssertionError(constant)


def decoded(body: bytes, kind: bytes = b"application/json", encoding: bytes = b"") -> tuple[int, int]:
    """How many events were kept and how many refused; raises AssertionError where the law is broken."""
    try:
        plain = inflate(body, encoding, LIMITS)
        envelope = common(SOURCE, kind, {}, {})
        if kind == AVRO:
            records, ids, refused = framed(SOURCE, plain, envelope)
        else:
            events, refused = split(plain, kind != b"application/json", LIMITS)
            records, ids, misfits = seal(SOURCE, events, envelope, LIMITS)
            refused += misfits
    except Refusal as refusal:
        assert refusal.reason in REASONS
        return 0, 1
    assert len(records) == len(ids)
    assert {one.reason for one in refused} <= REASONS.keys()
    if kind != AVRO:
        indexes = [index for index, _, _ in events] + [one.index for one in refused if one not in misfits]
        assert sorted(indexes) == list(range(len(indexes)))
        assert len(records) + len(refused) == len(indexes)
    for record in records:
        assert record.value in plain
        if kind != AVRO:
            assert len(json.loads(record.value, object_pairs_hook=unique, parse_constant=never)) <= LIMITS.keys
    return len(records), len(refused)
