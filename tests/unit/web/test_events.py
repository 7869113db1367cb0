"""Records of web.events become facts, or are rejected by name: a table of each."""

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import orjson
import pytest
from factories.web_records import ARRIVED, judged
from hypothesis import HealthCheck, given, settings

from domains.web.model import EVENTS, IDENTITIES, NUMBERS, SOURCES, USERS
from penstock.lake.dialect import MANY_ROWS

PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/17.0 Mobile/15E148 Safari/604.1"
)


def pageview(**fields: object) -> dict[str, object]:
    """A valid page view; a field given as None is left out."""
    event = {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/x", **fields}
    return {name: value for name, value in event.items() if value is not None}


def ago(**span: float) -> str:
    return (ARRIVED - timedelta(**span)).isoformat()


def shaped(
    *events: Any, source: str = EVENTS.name, user_agent: str | None = None, places: Sequence[str | None] = ()
) -> list[SimpleNamespace]:
    values = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    envelopes = [{"client_place": place, "user_agent": user_agent} for _, place in zip_longest(values, places)]
    rows = judged(values, source, envelopes).to_pylist(maps_as_pydicts="strict")
    return [SimpleNamespace(**row) for row in rows]


REFUSED = {
    "no JSON": (b"{nope", "malformed"),
    "no UTF-8": (b'{"site": "\xff"}', "malformed"),
    "an array": (b"[1]", "malformed"),
    "nothing": (b"", "malformed"),
    "two objects": (b'{"a": 1} {"a": 2}', "malformed"),
    "a name twice": (b'{"a": 1, "a": 2}', "malformed"),
    "too deep": (b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}", "malformed"),
    "no type": (pageview(type=None), "missing_type"),
    "a type of its own": (pageview(type="click"), "unknown_type"),
    "no site": (pageview(site=None), "missing_site"),
    "an empty site": (pageview(site=""), "missing_site"),
    "no visitor": (pageview(visitor=None), "missing_visitor"),
    "no url": (pageview(url=None), "missing_url"),
    "an event without a name": (pageview(type="event"), "missing_name"),
    "a number for a site": (pageview(site=5), "bad_site"),
    "an object for a visitor": (pageview(visitor={"id": 1}), "bad_visitor"),
    "a visitor too long": (pageview(visitor="v" * 301), "bad_visitor"),
    "a title too long": (pageview(title="t" * 4097), "bad_title"),
    "a relative url": (pageview(url="/x"), "bad_url"),
    "a script for a url": (pageview(url="javascript:alert(1)"), "bad_url"),
    "a url with a tab in it": (pageview(url="https://a.example/\tx"), "bad_url"),
    "text for a number": (pageview(load_ms="12"), "bad_load_ms"),
    "a number below zero": (pageview(load_ms=-1), "bad_load_ms"),
    "more than all of the page": (pageview(scroll_pct=101), "bad_scroll_pct"),
    "props in props": (pageview(props={"a": {"b": 1}}), "bad_props"),
    "props as text": (pageview(props="a"), "bad_props"),
    "too many props": (pageview(props={f"p{i}": i for i in range(51)}), "bad_props"),
    "a number for an id": (pageview(event_id=7), "bad_event_id"),
    "a time without a zone": (pageview(happened_at="2026-03-29T11:00:00"), "bad_happened_at"),
    "a day that is not": (pageview(happened_at="2026-02-30T11:00:00Z"), "bad_happened_at"),
    "a time as an object": (pageview(happened_at={}), "bad_happened_at"),
    "401 days ago": (pageview(happened_at=ago(days=401)), "too_old"),
    "25 hours ahead": (pageview(happened_at=ago(hours=-25)), "in_future"),
    "a relative url 401 days ago": (pageview(url="/x", happened_at=ago(days=401)), "bad_url"),
    "an event without a name at a relative url": (pageview(type="event", url="/x"), "missing_name"),
}


def test_many_records_are_judged_as_few_are() -> None:
    few = [event for event, _ in REFUSED.values()] * 2 + [
        pageview(title=f"{number}", extra=number) for number in range(30)
    ]
    values = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in few]
    times = MANY_ROWS // len(values) + 1
    all_at_once, alone = judged(values * times), judged(values)
    columns = [name for name in alone.column_names if name not in ("partition", "offset")]
    for nth in (0, times - 1):
        assert all_at_once.slice(nth * len(values), len(values)).select(columns).equals(alone.select(columns))


def test_each_broken_rule_has_its_reason() -> None:
    rows = shaped(*(event for event, _ in REFUSED.values()))
    assert {name: row.reason for name, row in zip(REFUSED, rows, strict=True)} == {
        name: reason for name, (_, reason) in REFUSED.items()
    }


def test_every_reason_that_is_given_is_declared() -> None:
    assert {reason for _, reason in REFUSED.values()} <= set(EVENTS.reasons)


TAKEN = {
    "url": (
        pageview(url="HTTPS://u:p@A.Example:443/X/?b=2&utm_source=m&a=1&gclid=9#top"),
        "https://a.example/X?a=1&b=2",
    ),
    "page": (pageview(url="http://a.example:8080/x/?q"), "/x"),
    "host": (pageview(url="http://a.example.:80"), "a.example"),
    "utm_campaign": (pageview(url="https://a.example/?utm_campaign=summer+sale%21"), "summer sale!"),
    "referrer": (pageview(referrer="https://News.Example/a?secret=1"), "https://news.example/a"),
    "referrer_source": (pageview(referrer="https://www.google.co.uk/search"), "Google"),
    "channel": (pageview(referrer="https://old.reddit.com/r/x"), "Social"),
    "browser": (pageview(user_agent=PHONE), "Safari"),
    "os": (pageview(user_agent=PHONE), "iOS"),
    "device": (pageview(user_agent=PHONE), "Phone"),
    "bot": (pageview(user_agent="Mozilla/5.0 (compatible; Googlebot/2.1)"), True),
    "country": (pageview(timezone="Europe/Stockholm"), "SE"),
    "region": (pageview(timezone="Europe/Stockholm", region="Skåne"), "Skåne"),
    "load_ms": (pageview(load_ms=12.7), 12),
    "props": (pageview(type="event", name="buy", props={"n": 1, "ok": True}), {"n": "1", "ok": "true"}),
    "extra": (pageview(colour="red"), {"colour": "red"}),
    "event_id": (pageview(event_id="e7"), "e7"),
    "title": (pageview(title="[draft] <b>x</b>"), "[draft] <b>x</b>"),
    "reason": (pageview(title=None, referrer=""), None),
}


def test_facts_have_typed_and_derived_columns() -> None:
    rows = shaped(*(event for event, _ in TAKEN.values()))
    assert {name: getattr(row, name) for name, row in zip(TAKEN, rows, strict=True)} == {
        name: value for name, (_, value) in TAKEN.items()
    }


TIMES = {
    "as text": (ago(hours=1), ARRIVED - timedelta(hours=1), []),
    "in another zone": ("2026-03-29T13:30:00+02:00", ARRIVED - timedelta(minutes=30), []),
    "as milliseconds with a point": (ARRIVED.timestamp() * 1000, ARRIVED, []),
    "as milliseconds": (int(ARRIVED.timestamp() * 1000) - 5, ARRIVED - timedelta(milliseconds=5), []),
    "not told": (None, ARRIVED, []),
    "an hour ahead": (ago(hours=-1), ARRIVED, ["clamped"]),
}


def test_time_is_as_told_but_never_after_arrival() -> None:
    rows = shaped(*(pageview(happened_at=told) for told, _, _ in TIMES.values()))
    assert {name: (row.reason, row.happened_at, row.flags) for name, row in zip(TIMES, rows, strict=True)} == {
        name: (None, happened_at, flags) for name, (_, happened_at, flags) in TIMES.items()
    }


def test_imported_history_may_be_old() -> None:
    (row,) = shaped(pageview(happened_at=ago(days=800), imported=True))
    assert (row.reason, row.flags) == (None, ["imported"])


def test_the_header_names_the_agent_of_an_event_that_does_not() -> None:
    (row,) = shaped(pageview(), user_agent=PHONE)
    assert row.device == "Phone"


NORTH = "Europe/Stockholm"
PLACES = {
    "by address": (pageview(), "JP/Tokyo", ("JP", "Tokyo")),
    "by address rather than by time zone": (pageview(timezone=NORTH), "JP/Tokyo", ("JP", "Tokyo")),
    "an address of which the region is not known": (pageview(timezone=NORTH), "JP", ("JP", None)),
    "and whose time zone is of the same country": (pageview(timezone="Asia/Tokyo"), "JP", ("JP", "Asia")),
    "as sent": (pageview(country="SE", timezone=NORTH), "JP/Tokyo", ("SE", "Europe")),
    "a region as sent": (pageview(region="Kansai"), "JP/Tokyo", ("JP", "Kansai")),
    "by a browser that names itself": (pageview(user_agent=PHONE), "JP/Tokyo", ("JP", "Tokyo")),
    "by a server for somebody else": (pageview(user_agent="Opera", timezone=NORTH), "JP/Tokyo", ("SE", "Europe")),
    "by a server without a zone": (pageview(user_agent="Opera"), "JP/Tokyo", (None, None)),
    "imported": (pageview(imported=True, timezone=NORTH), "JP/Tokyo", ("SE", "Europe")),
    "a header that is no collector's": (pageview(timezone=NORTH), "Japan", ("SE", "Europe")),
}


def test_a_visitor_is_where_the_sender_says_else_the_address_else_the_time_zone() -> None:
    rows = shaped(
        *(event for event, _, _ in PLACES.values()), user_agent=PHONE, places=[it for _, it, _ in PLACES.values()]
    )
    assert {name: (row.country, row.region) for name, row in zip(PLACES, rows, strict=True)} == {
        name: expected for name, (_, _, expected) in PLACES.items()
    }


PROFILES = {
    "a change": (USERS.name, {"user": "u1", "happened_at": ago(days=1), "region": "Skåne", "age": 7}, None),
    "no user": (USERS.name, {"happened_at": ago(days=1)}, "missing_user"),
    "no time": (USERS.name, {"user": "u1"}, "missing_happened_at"),
    "a number for a plan": (USERS.name, {"user": "u1", "happened_at": ago(days=1), "plan": 3}, "bad_plan"),
    "two ids of one person": (IDENTITIES.name, {"a": "v1", "b": "u1", "happened_at": ago(days=1)}, None),
    "one id only": (IDENTITIES.name, {"a": "v1", "happened_at": ago(days=1)}, "missing_b"),
}


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_and_identities(name: str) -> None:
    source, event, reason = PROFILES[name]
    assert shaped(event, source=source)[0].reason == reason


TEXT = st.text(max_size=8) | st.sampled_from(["pageview", "event", "https://a.example/x", "v" * 301, "v" * 4097, "NaN"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXT, each, max_size=3),
    max_leaves=5,
)
NAMES = sorted(
    {field.name for source in SOURCES for field in source.fields} | {"timezone", "happened_at", "event_id", "imported"}
)
CHANGES = st.dictionaries(st.sampled_from(NAMES) | TEXT, JSON, max_size=4)
EVENT = CHANGES.map(lambda changes: json.dumps({**pageview(), **changes}).encode())
TORN = st.builds(lambda event, cut: event[:cut], EVENT, st.integers(1, 200))
ANYTHING = st.none() | st.binary(max_size=30) | EVENT | TORN


@pytest.mark.parametrize("source", [source.name for source in SOURCES])
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(values=st.lists(ANYTHING, min_size=20, max_size=60), cut=st.integers(0, 20))
def test_whatever_comes_each_record_is_a_fact_or_is_refused_by_a_declared_name(
    source: str, values: list[bytes | None], cut: int
) -> None:
    rows = judged(values, source).to_pylist()
    assert [row["value"] for row in rows] == values
    declared = {None, *next(each for each in SOURCES if each.name == source).reasons}
    assert {row["reason"] for row in rows} <= declared
    for row in rows:
        assert row["reason"] or all(0 <= (row[name] or 0) <= most for name, most in NUMBERS.items() if name in row)
    # A record is judged by itself.
    parts = [row for part in (values[:cut], values[cut:]) for row in judged(part, source).drop(["offset"]).to_pylist()]
    assert parts == [{name: value for name, value in row.items() if name != "offset"} for row in rows]


# What some parsers take for a value, and what is one.
TOKENS = (
    *(
        "nan",
        "NaN",
        "NAN",
        "-inf",
        "-Infinity",
        "infinity",
        "01",
        "+1",
        "1.",
        ".5",
        "0x1",
        "'a'",
        "tru",
        "[1,]",
        "[1 , ]",
    ),
    *(
        '{"a":1,}',
        "1/**/",
        '"\\ud800"',
        '"\t"',
        "1e5",
        "-0",
        '"nan"',
        '"a, ]"',
        '[":nan"]',
        '{"a":1,"a":2}',
        "[[[[[[[[[[[1]]]]]]]]]]]",
    ),
)
SPELT = st.builds(
    lambda token, gap, name, tail: f'{json.dumps(pageview())[:-1]}, "{name}":{gap}{token}{tail}'.encode(),
    st.sampled_from(TOKENS),
    st.sampled_from(["", " ", "\t", "\u00a0"]),
    st.sampled_from(["x", "site", "props", "load_ms"]),
    st.sampled_from(["}", " }", ",}", "} ", "}\x00", "}}", ""]),
)


def is_one_object(value: bytes) -> bool:
    """By a parser that takes nothing else, and one that shows a name that is given twice."""
    try:
        if not isinstance(orjson.loads(value), dict):
            return False
    except orjson.JSONDecodeError:
        return False
    names = [name for name, _ in json.loads(value, object_pairs_hook=list)]
    return len(names) == len(set(names))


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(values=st.lists(SPELT | EVENT | TORN, min_size=30, max_size=60))
def test_a_record_is_malformed_if_it_is_not_one_json_object_and_else_it_is_not(values: list[bytes]) -> None:
    told = {
        value: reason == "malformed" for value, reason in zip(values, judged(values)["reason"].to_pylist(), strict=True)
    }
    assert told == {value: not is_one_object(value) for value in values}


def test_maps_are_in_order_whatever_order_was_sent() -> None:
    (row,) = judged([json.dumps(pageview(zz=1, aa=2, props={"y": 1, "b": 2})).encode()]).to_pylist()
    assert (row["extra"], row["props"]) == ([("aa", "2"), ("zz", "1")], [("b", "2"), ("y", "1")])
