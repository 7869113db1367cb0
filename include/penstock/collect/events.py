"""Splits a body into events and checks each one, keeping its own bytes as they came.

Canonical JSON (what most encoders write) is proved free of duplicate keys by writing it again: the same bytes.
Anything else is cut and checked token by token.
"""

import json
import re
from typing import Any

import msgspec
import orjson

from penstock.collect.limits import Limits
from penstock.collect.refusal import Refusal, Refused

Parsed = dict[str, Any]
# Index in the request, the event's own bytes, what they say.
Event = tuple[int, bytes, Parsed]

# A string always matches up to its end, closed or not: a quote is never tried twice.
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)


class _Duplicate(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _Duplicate


# Numbers are only looked at by the strict parser before; here they must not be converted.
STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_int=float, parse_float=float)


def split(body: bytes, lines: bool, limits: Limits) -> tuple[list[Event], list[Refused]]:
    """The events of a body, and those refused. Raises Refusal where the body as a whole cannot be taken."""
    _flood(body, limits)
    if lines:
        pieces = [line for line in (line.strip() for line in body.split(b"\n")) if line]
    else:
        body = body.strip()
        if body[:1] == b"[":
            return _array(body, limits)
        pieces = [body]
    return _judged(pieces, limits)


def _flood(body: bytes, limits: Limits) -> None:
    """Refuses what would cost much more to look at than to send."""
    most = limits.values
    if len(body) <= most:
        return
    opened = body.count(b"[") + body.count(b"{")
    if body.count(b",") > most or opened > most or body.count(b'"') > 4 * most or body.count(b"\n") > most:
        raise Refusal("too_many_values")


def _array(body: bytes, limits: Limits) -> tuple[list[Event], list[Refused]]:
    try:
        events = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _judged(_cut(body, limits), limits)
    _countable(len(events), limits)
    pieces = [orjson.dumps(event) for event in events]
    if b"[%b]" % b",".join(pieces) != body:
        return _judged(_cut(body, limits), limits)
    whole = list(zip(range(len(events)), pieces, events, strict=True))
    if _plain(body, pieces, events, limits):
        return whole, []
    reasons = [_out_of_bounds(piece, event, limits) for _, piece, event in whole]
    kept = [event for event, reason in zip(whole, reasons, strict=True) if reason is None]
    return kept, [Refused(index, reason) for index, reason in enumerate(reasons) if reason is not None]


def _plain(body: bytes, pieces: list[bytes], events: list[Any], limits: Limits) -> bool:
    """Whether nothing can be out of bounds: small objects, each opened once, that all together open little more."""
    if max(map(len, pieces), default=0) > limits.small or {*map(type, events)} != {dict}:
        return False
    # A search for a first one is a twentieth of a count; the body begins with another.
    arrays = body.count(b"[") if body.find(b"[", 1) > 0 else 1
    return body.count(b"{") + arrays - len(events) <= limits.depth


def _cut(body: bytes, limits: Limits) -> list[bytes]:
    """The elements of an array by its brackets alone, so that one broken element does not hide the others."""
    depth, start, pieces = 0, 1, []
    for token in TOKEN.finditer(body):
        kind = body[token.start()]
        if kind in b"[{":
            depth += 1
        elif kind in b"]}":
            depth -= 1
            if depth == 0:
                if body[token.start() :] != b"]":
                    break
                pieces.append(body[start : token.start()].strip())
                return [] if pieces == [b""] else pieces
        elif depth == 1 and kind in b",":
            pieces.append(body[start : token.start()].strip())
            start = token.end()
            _countable(len(pieces), limits)
    raise Refusal("malformed", "The array's brackets do not match: nothing of it was kept.")


def _countable(events: int, limits: Limits) -> None:
    if events > limits.events:
        raise Refusal("too_many_events", f"A request has at most {limits.events} events.")


def _judged(pieces: list[bytes], limits: Limits) -> tuple[list[Event], list[Refused]]:
    _countable(len(pieces), limits)
    kept: list[Event] = []
    refused: list[Refused] = []
    for index, piece in enumerate(pieces):
        judged = _judge(piece, limits)
        if isinstance(judged, str):
            refused.append(Refused(index, judged))
        else:
            kept.append((index, piece, judged))
    return kept, refused


def _judge(piece: bytes, limits: Limits) -> Parsed | str:
    """What an event says, or the reason to refuse it."""
    try:
        event = orjson.loads(piece)
    except orjson.JSONDecodeError:
        return _unreadable(piece, limits)
    reason = _out_of_bounds(piece, event, limits)
    if reason is None and not _canonical(piece, event) and _repeats(piece):
        reason = "duplicate_key"
    return reason or event


def _unreadable(piece: bytes, limits: Limits) -> str:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return "invalid_utf8"
    depth = deepest = 0
    for token in TOKEN.finditer(piece):
        kind = piece[token.start()]
        depth += (kind in b"[{") - (kind in b"]}")
        deepest = max(deepest, depth)
    return "too_deep" if deepest > limits.depth else "malformed"


def _canonical(piece: bytes, event: Parsed) -> bool:
    """Written again it is the same, or the same but for white space: then no key was lost."""
    again = orjson.dumps(event)
    return again == piece or again == msgspec.json.format(piece, indent=-1)


def _repeats(piece: bytes) -> bool:
    try:
        STRICT.decode(piece.decode())
    except _Duplicate:
        return True
    return False


def _out_of_bounds(piece: bytes, event: Any, limits: Limits) -> str | None:
    if type(event) is not dict:
        return "not_an_object"
    size = len(piece)
    if size > limits.event:
        return "event_too_large"
    # Upper bounds by counting bytes; only what exceeds them is walked through.
    few = size <= limits.small or (size <= limits.string and piece.count(b":") <= limits.keys)
    if few and piece.count(b"{") + piece.count(b"[") <= limits.depth:
        return None
    return _walk(event, limits)


def _walk(event: Parsed, limits: Limits) -> str | None:
    keys = 0
    level: list[Any] = [event]
    for _ in range(limits.depth):
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                keys += len(value)
                deeper += value.keys()
                deeper += value.values()
            elif isinstance(value, list):
                deeper += value
            elif isinstance(value, str) and len(value) > limits.string // 4 and len(value.encode()) > limits.string:
                return "string_too_long"
        if keys > limits.keys:
            return "too_many_keys"
        level = deeper
    return "too_deep" if any(isinstance(value, dict | list) for value in level) else None
