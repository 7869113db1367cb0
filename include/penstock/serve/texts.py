"""The body of a request that does something: a small JSON object of texts."""

import json

from starlette.requests import Request

from penstock.serve.problems import Problem, bad

LONGEST = 4096


async def texts(request: Request) -> dict[str, str]:
    """Refuses what is anything else."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST:
            raise Problem(413, "Too large", f"at most {LONGEST} bytes")
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if not isinstance(told, dict) or not all(isinstance(value, str) for value in told.values()):
        raise bad("send a JSON object of texts")
    return told
