"""The laws of normalised addresses, over addresses of every kind."""

import json

import hypothesis.strategies as st
from factories.web_records import judged
from hypothesis import HealthCheck, given, settings

LABEL = st.text("aB9-ß", min_size=1, max_size=5)
PATH = st.text("aZ/.%20~é-", max_size=12)
PAIR = st.builds(
    "{}={}".format, st.sampled_from(["a", "b", "utm_source", "gclid", "q"]), st.text("x&=%+ é?", max_size=5)
)
ADDRESS = st.builds(
    "{}://{}{}{}/{}{}{}".format,
    st.sampled_from(["http", "HTTPS", "https"]),
    st.sampled_from(["", "u:p@"]),
    st.builds("{}.Example{}".format, LABEL, st.sampled_from(["", ".", "..."])),
    st.sampled_from(["", ":", ":80", ":443", ":8080"]),
    PATH,
    st.one_of(st.just(""), st.builds("?{}".format, st.lists(PAIR, max_size=4).map("&".join))),
    st.sampled_from(["", "#", "#top", "#/a?b"]),
)
BATCH = st.lists(ADDRESS, min_size=100, max_size=150)
FEW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


def normalised(batch: list[str | None]) -> list[str | None]:
    events = [{"type": "pageview", "site": "a", "visitor": "v", "url": one} for one in batch]
    told: list[str | None] = judged([json.dumps(event).encode() for event in events])["url"].to_pylist()
    return told


@FEW
@given(BATCH)
def test_normalising_twice_changes_nothing(batch: list[str]) -> None:
    once = normalised(batch)
    assert normalised(once) == once


@FEW
@given(BATCH)
def test_what_does_not_name_a_page_makes_no_difference(batch: list[str]) -> None:
    # Spaces around an address are not part of it.
    bare = [one.partition("#")[0].strip() for one in batch]
    tracked = [f"{one}{'&' if '?' in one else '?'}utm_medium=m&fbclid=1#x" for one in bare]
    assert normalised(tracked) == normalised(bare)
