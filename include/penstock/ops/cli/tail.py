"""`penstock tail`: the records of a source as they come."""

import json
import sys
import time
from collections.abc import Iterator
from typing import Annotated

import httpx
import typer

from penstock.ops import cli
from penstock.refusal import Refusal
from penstock.settings import Settings

# A collector that is being started again is there within a few seconds.
RETRIES, PAUSE = 10, 1.0


def register(app: typer.Typer) -> None:
    app.command()(tail)


def tail(
    source: Annotated[str, typer.Argument(help="The source to follow.")],
    start: Annotated[str, typer.Option("--from", help="now, beginning, an offset, or partition:offset,…")] = "now",
    limit: Annotated[int, typer.Option(help="Stop after so many records; 0: never.")] = 0,
    url: Annotated[str, typer.Option(help="The collector; this home's by default.")] = "",
    key: Annotated[str, typer.Option(help="A write key, where the collector asks for one.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines with positions, ids and times.")] = False,
) -> None:
    """Follow a source: each record on one line, from now or from a position.

    Status 4 when the collector cannot be reached."""
    address = url or f"http://127.0.0.1:{Settings.from_env().collector_port}"
    for shown, document in enumerate(follow(address, source, start, key), 1):
        line = document if as_json else document.get("value", document.get("value_base64"))
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        if shown == limit:
            return


def follow(url: str, source: str, start: str, key: str) -> Iterator[dict[str, object]]:
    """The records of a source, across restarts of the collector; says on standard error when it is behind."""
    cursor, failures = start, 0
    headers = {"authorization": f"Bearer {key}"} if key else {}
    while failures < RETRIES:
        try:
            with httpx.stream(
                "GET", f"{url}/v1/{source}/subscribe", params={"from": cursor}, headers=headers, timeout=60
            ) as answer:
                if answer.is_client_error:
                    raise Refusal(f"{answer.read().decode()}")
                for place, kind, data in _events(answer.iter_lines()):
                    cursor, failures = place or cursor, 0
                    if kind == "record":
                        yield json.loads(data)
                    else:
                        cli.complain(f"{data} records behind")
        except httpx.TransportError:
            failures += 1
            time.sleep(PAUSE)
    cli.complain(f"no collector answers at {url}: start it with `penstock up`, or name it with --url.")
    raise typer.Exit(cli.NOT_RUNNING)


def _events(lines: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    """Server-sent events: id, kind and data of each."""
    event: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, text = line.partition(": ")
            event[name] = text
        elif "data" in event:
            yield event.get("id", ""), event.get("event", ""), event["data"]
            event = {}
