"""What the edge serves besides taking events: health, metrics, the tracker."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from penstock.collect.asgi import JSON, Send, answer
from penstock.collect.description import description
from penstock.collect.refusal import Refusal

if TYPE_CHECKING:
    from penstock.collect.edge import Edge

# One transparent pixel.
GIF = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")
TRACKER = Path(__file__).with_name("tracker.js")
TEXT = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")
SCRIPT = (b"content-type", b"text/javascript; charset=utf-8")


async def answer_page(edge: "Edge", path: str, headers: dict[bytes, bytes], send: Send) -> int:
    if path == "/healthz":
        return await _told(send, 200, {"alive": True})
    if path == "/readyz":
        ready = edge.accepting.keeping.ready()
        return await _told(send, 200 if ready else 503, {"ready": ready, "log": edge.accepting.keeping.state()})
    if path == "/metrics":
        await answer(send, 200, edge.accepting.metrics.text(), [TEXT])
        return 200
    if path == "/tracker.js":
        return await _tracker(headers, send)
    if path == "/openapi.json":
        return await _told(send, 200, description(edge.accepting.sources, edge.accepting.access.limits))
    if path.startswith("/v1/receipts/"):
        return await _told(send, 200, await edge.answers.receipt(path[13:]))
    raise Refusal("not_found")


async def _told(send: Send, status: int, document: object) -> int:
    await answer(send, status, orjson.dumps(document), [JSON])
    return status


async def _tracker(headers: dict[bytes, bytes], send: Send) -> int:
    encoding = b"gzip" if b"gzip" in headers.get(b"accept-encoding", b"") else b"identity"
    script, etag = tracker()[encoding]
    cached = [(b"etag", etag), (b"cache-control", b"public, max-age=3600"), (b"vary", b"accept-encoding")]
    if etag in headers.get(b"if-none-match", b""):
        await send({"type": "http.response.start", "status": 304, "headers": cached})
        await send({"type": "http.response.body", "body": b""})
        return 304
    await answer(send, 200, script, [*cached, SCRIPT, (b"content-encoding", encoding)])
    return 200


@cache
def tracker() -> dict[bytes, tuple[bytes, bytes]]:
    """The script in each encoding, with the strong ETag of exactly those bytes."""
    script = TRACKER.read_bytes()
    encoded = {b"identity": script, b"gzip": gzip.compress(script, 9, mtime=0)}
    return {name: (body, b'"%s"' % hashlib.sha256(body).hexdigest()[:32].encode()) for name, body in encoded.items()}
