"""Takes a request's body off the wire: never more of it than the limits allow, inflated or not."""

import zlib
from io import BytesIO

import zstandard

from penstock.collect.asgi import Receive
from penstock.collect.limits import Limits
from penstock.collect.refusal import Refusal

# A window larger than what may be inflated is only good for taking memory.
ZSTD = zstandard.ZstdDecompressor(max_window_size=8 * 1024 * 1024)


class Gone(Exception):
    """The sender closed the connection before the body was complete."""


async def read(receive: Receive, announced: bytes | None, limit: int) -> bytes:
    if announced is not None and int(announced) > limit:
        raise Refusal("body_too_large", f"The body is limited to {limit} bytes.")
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > limit:
            raise Refusal("body_too_large", f"The body is limited to {limit} bytes.")
        more = message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def inflate(body: bytes, encoding: bytes, limits: Limits) -> bytes:
    if encoding in (b"", b"identity"):
        return body
    if encoding not in (b"gzip", b"zstd"):
        raise Refusal("unknown_encoding")
    try:
        plain = _gunzip(body, limits.inflated) if encoding == b"gzip" else _unzstd(body, limits.inflated)
    except (zlib.error, zstandard.ZstdError) as error:
        raise Refusal("malformed", f"The body is not {encoding.decode()}: {error}") from error
    if len(plain) > limits.inflated:
        raise Refusal("inflated_too_large", f"The inflated body is limited to {limits.inflated} bytes.")
    return plain


def _gunzip(body: bytes, limit: int) -> bytes:
    """Stops one byte past the limit, however much more there would be."""
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    plain = stream.decompress(body, limit + 1)
    if len(plain) <= limit and (not stream.eof or stream.unused_data):
        raise zlib.error("cut short, or followed by something else")
    return plain


def _unzstd(body: bytes, limit: int) -> bytes:
    """Reads boundedly first; only what fits is inflated again, to learn whether the frame was whole."""
    with ZSTD.stream_reader(BytesIO(body)) as reader:
        plain = reader.read(limit + 1)
    if len(plain) <= limit:
        stream = ZSTD.decompressobj()
        plain = stream.decompress(body)
        if not stream.eof or stream.unused_data:
            raise zstandard.ZstdError("cut short, or followed by something else")
    return plain
