"""Records of one request share what they say of themselves, and still each says only its own."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.log.producer import Record, with_headers

VALUE = st.just("toy.events"), st.just(b"{}"), st.none()
ENVELOPES = [{"source": b"a"}, {"source": b"b", "schema_id": b"7"}]
SHARING = st.builds(
    Record, *VALUE, st.sampled_from(ENVELOPES), st.sampled_from(["", "e1", "e2"]), st.sampled_from([b"", b"s1", b"s2"])
)
FROM_A_SPOOL = st.builds(Record, *VALUE, st.just({"event_id": b"e3", "source": b"a", "subjects": b"s3"}))


def told(headers: dict[str, str | bytes | None]) -> dict[str, bytes]:
    """As the log has them."""
    return {name: value.encode() if isinstance(value, str) else value or b"" for name, value in headers.items()}


@given(st.lists(SHARING | FROM_A_SPOOL, max_size=8))
def test_what_stands_beside_a_record_changes_nothing_of_its_headers(records: list[Record]) -> None:
    before = [told(record.headers) for record in records]
    assert [told(headers) for _, headers in with_headers(records)] == before
    assert [told(record.headers) for record in records] == before


def test_headers_are_on_the_log_in_one_order() -> None:
    records = [Record("toy.events", b"{}", None, {"source": b"a"}, event_id, b"s") for event_id in ("e1", "e2")]
    assert [list(headers) for _, headers in with_headers(records)] == [["event_id", "source", "subjects"]] * 2
