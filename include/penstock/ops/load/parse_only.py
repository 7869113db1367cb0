"""The least an ASGI application can do with an event: read the body, parse it, answer. Started by path."""

import sys
from typing import Any

import orjson
import uvicorn

START = {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"14")]}


async def parse_only(scope: Any, receive: Any, send: Any) -> None:
    orjson.loads((await receive())["body"])
    await send(START)
    await send({"type": "http.response.body", "body": b'{"accepted":1}'})


if __name__ == "__main__":
    uvicorn.run(parse_only, host="127.0.0.1", port=int(sys.argv[1]), lifespan="off", access_log=False, log_config=None)
