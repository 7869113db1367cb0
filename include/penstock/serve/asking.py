"""Asks the read API from a program, a notebook or the command line. Needs nothing but the address."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pyarrow as pa

SECONDS = 30.0


@dataclass(frozen=True)
class Told:
    """Rows as an Arrow table, and the certificate that they carry."""

    rows: pa.Table
    certificate: Mapping[str, Any]

    def to_pandas(self) -> Any:
        """A pandas frame, for notebooks."""
        return self.rows.to_pandas()


class NotAnswered(RuntimeError):
    """The read API refused, or cannot be reached; the message says what is allowed or what to start."""


def query(view: str, address: str, *, where: Sequence[str] = (), **said: str | int | None) -> Told:
    """Asks a view: `start`, `end`, and the parameters of docs/api.md by their names."""
    names = {"start": "from", "end": "to"}
    asked = [(names.get(name, name), str(value)) for name, value in said.items() if value not in (None, "")]
    told = _answer(f"{address}/api/views/{view}", address, [*asked, *(("where", each) for each in where)]).json()
    return Told(pa.Table.from_pylist(told["rows"]), told["certificate"])


def fetched(path: str, address: str, said: Mapping[str, str]) -> bytes:
    """What the read API has below `/api/`, as it is."""
    return _answer(f"{address}/api/{path}", address, [*said.items()]).content


def _answer(url: str, address: str, asked: Sequence[tuple[str, str]]) -> httpx.Response:
    try:
        answer = httpx.get(url, params=[*asked], timeout=SECONDS)
    except httpx.TransportError as error:
        raise NotAnswered(f"nothing answers at {address} ({error}); start the stack: penstock up") from error
    if answer.status_code != httpx.codes.OK:
        raise NotAnswered(_refusal(answer))
    return answer


def _refusal(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
    except json.JSONDecodeError:
        return f"{answer.url} answered {answer.status_code}"
    allowed = f"; allowed: {', '.join(problem['allowed'])}" if problem.get("allowed") else ""
    return f"{problem['detail']}{allowed}"
