"""What lines of logs and tables become: the events that a tracker would have sent."""

from typing import Any

import pytest

from domains.web.importing import FORMATS, NotAnEvent
from penstock.collect.agent import formats

SALT = b"salt"
AGENT = "Mozilla/5.0 (X11; Linux x86_64) Firefox/143.0"
REQUEST = '"GET /boats?utm_source=x HTTP/1.1" 200 512'
COMBINED = f'203.0.113.9 - - [29/Mar/2026:03:30:00 +0200] {REQUEST} "https://b.example/" "{AGENT}"'
W3C = """#Version: 1.0
#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent) cs(Referer)
2026-03-29 01:30:00 203.0.113.9 GET /boats utm_source=x 200 Mozilla/5.0+(X11;+Linux+x86_64)+Firefox/143.0 https://b.example/"""
CSV = """type,visitor,url,happened_at,load_ms,title
pageview,v1,https://a.example/boats,2026-03-29T01:30:00Z,120,"Boats, all"
,v2,https://a.example/,2026-03-29T01:31:00Z,,"""


def events(name: str, text: str) -> list[dict[str, Any] | None]:
    reading, make = FORMATS[name]
    parse = formats.FORMATS[reading]()
    fields = [formats.parsed(parse, line) for line in text.splitlines()]
    return [make(one, "a.example", SALT) for one in fields if one is not None]


def test_two_logs_of_one_request_are_the_same_event() -> None:
    assert events("combined", COMBINED) == events("w3c", W3C)


def test_a_request_is_the_page_view_that_it_was() -> None:
    (event,) = events("combined", COMBINED)
    assert event is not None
    visitor = event.pop("visitor")
    assert event == {
        "type": "pageview", "site": "a.example", "url": "https://a.example/boats?utm_source=x",
        "happened_at": "2026-03-29T01:30:00+00:00", "referrer": "https://b.example/", "user_agent": AGENT,
        "imported": True,
    }  # fmt: skip
    assert "203.0.113.9" not in visitor


@pytest.mark.parametrize(
    ("before", "after"),
    [("GET", "POST"), ("/boats", "/style.css"), ("/boats", "/a.PNG"), (" 200 ", " 404 "), (" 200 ", " 301 ")],
)
def test_what_is_no_page_is_no_event(before: str, after: str) -> None:
    assert events("combined", COMBINED.replace(before, after)) == [None]


def test_who_has_the_same_address_and_agent_is_one_visitor() -> None:
    lines = [COMBINED, COMBINED.replace("/boats", "/book"), COMBINED.replace("203.0.113.9", "203.0.113.8")]
    visitors = [event["visitor"] for event in events("combined", "\n".join(lines)) if event]
    assert (visitors[0] == visitors[1], visitors[0] == visitors[2]) == (True, False)


def test_a_tables_columns_are_the_events_fields() -> None:
    assert events("csv", CSV) == [
        {"type": "pageview", "site": "a.example", "visitor": "v1", "url": "https://a.example/boats",
         "happened_at": "2026-03-29T01:30:00Z", "load_ms": 120.0, "title": "Boats, all", "imported": True},
        {"type": "pageview", "site": "a.example", "visitor": "v2", "url": "https://a.example/",
         "happened_at": "2026-03-29T01:31:00Z", "imported": True},
    ]  # fmt: skip


def test_a_line_that_says_too_little_says_what_is_missing() -> None:
    with pytest.raises(NotAnEvent, match="sc-status"):
        events("w3c", "#Fields: date time c-ip cs-uri-stem\n2026-03-29 01:30:00 203.0.113.9 /boats")
