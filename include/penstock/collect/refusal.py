"""Why an event or a request is refused: each reason has a name, a status and a counter, and nothing else exists."""

from dataclasses import dataclass

import orjson

# The status of each reason, and what a sender should do about it.
REASONS: dict[str, tuple[int, str]] = {
    "malformed": (400, "The body is not valid JSON (or NDJSON, gzip, zstd, Avro) as its headers say."),
    "bad_framing": (400, "The bytes are not HTTP/1.1 as its strict reading wants it."),
    "invalid_utf8": (400, "JSON is UTF-8; encode the text again."),
    "duplicate_key": (400, "An object names one key twice; only one of the values could be kept."),
    "not_an_object": (400, "An event is a JSON object."),
    "bad_parameter": (400, "A query parameter has a value that cannot work."),
    "bad_write_key": (401, "Send a key of this collector as `Authorization: Bearer`, or `?key=`."),
    "origin_refused": (401, "This write key does not list the page's origin."),
    "not_found": (404, "There is nothing at this path."),
    "unknown_source": (404, "No domain declares this source."),
    "unknown_receipt": (404, "This receipt was not given here, or is damaged."),
    "method_not_allowed": (405, "This path does not answer that method."),
    "slow_request": (408, "The request did not arrive in time; send it again."),
    "body_too_large": (413, "Send smaller batches."),
    "inflated_too_large": (413, "Send smaller batches: the limit also holds for the inflated body."),
    "too_many_events": (413, "Send fewer events in a request."),
    "event_too_large": (413, "The log does not take a record of this size."),
    "too_deep": (413, "Nest less deeply."),
    "too_many_keys": (413, "Use fewer keys in an event."),
    "string_too_long": (413, "Shorten the string."),
    "too_many_values": (413, "Send fewer values in a request."),
    "unknown_type": (415, "Use application/json, application/x-ndjson, text/plain (JSON) or application/avro."),
    "unknown_encoding": (415, "Use gzip or zstd, or none."),
    "bad_event_id": (422, "event_id is text of 1 to 128 printable characters, or absent."),
    "bad_key": (422, "The key field of this source is a short text or a whole number."),
    "too_fast": (429, "Wait as Retry-After says."),
    "headers_too_large": (431, "Send fewer or shorter headers."),
    "unsafe": (503, "Nothing was stored: neither log nor spool can keep it now. Send it again after Retry-After."),
    "internal": (503, "The collector failed on this request and stored nothing it answered for. Send it again."),
}


@dataclass
class Refusal(Exception):
    """A whole request is refused."""

    reason: str
    detail: str = ""
    retry_after: int = 0


@dataclass(frozen=True)
class Refused:
    """One event of a batch is refused; the others are kept."""

    index: int
    reason: str

    def told(self) -> dict[str, object]:
        return {"index": self.index, "reason": self.reason, "detail": REASONS[self.reason][1]}


def problem(reason: str, detail: str = "", refused: list[Refused] | None = None) -> tuple[int, bytes]:
    """Status and RFC 9457 document."""
    status, advice = REASONS[reason]
    document: dict[str, object] = {
        "type": f"urn:penstock:refused:{reason}",
        "title": reason.replace("_", " "),
        "status": status,
        "detail": detail or advice,
    }
    if refused:
        document["refused"] = [one.told() for one in refused]
    return status, orjson.dumps(document)
