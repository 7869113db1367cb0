"""`penstock send`: files or a pipe of NDJSON into a source, at a pace that the collector sets; can be resumed."""

import sys
from typing import Annotated

import orjson
import typer

from penstock.client import Client, NotSent, Refused
from penstock.ops import cli
from penstock.ops.sending import Event, Make, Mark, Sent, opened, send_all
from penstock.settings import Settings

# What every command that sends to a collector asks.
OfSource = Annotated[str, typer.Option("--source", help="The source that the events belong to.")]
ToUrl = Annotated[str, typer.Option("--url", help="The collector; this home's by default.")]
WithKey = Annotated[str, typer.Option("--key", help="A write key, where the collector asks for one.")]
Restart = Annotated[bool, typer.Option("--restart", help="From the beginning, even if a part was sent before.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document at the end.")]


def register(app: typer.Typer) -> None:
    app.command()(send)


def send(
    file: Annotated[str, typer.Argument(help="NDJSON, one event a line; - for standard input.")],
    source: OfSource = "web.events",
    url: ToUrl = "",
    key: WithKey = "",
    restart: Restart = False,
    as_json: AsJson = False,
) -> None:
    """Send events from a file. If it is stopped, the same command goes on where it was.

    Status 1 when events were refused (each is named on standard error), 4 when the collector cannot be reached."""
    settings = Settings.from_env()
    mark = Mark(settings.home / "run" / "send", file, source, restart)
    done = carried(file, mark, _event, Client(url or collector(settings), source, key))
    told = {"sent": done.sent, "refused": done.refused, "file": file, "source": source}
    cli.say(told) if as_json else sys.stdout.write(f"{done.sent} events sent, {done.refused} refused\n")
    raise typer.Exit(cli.UNWELL if done.refused else 0)


def collector(settings: Settings) -> str:
    return f"http://127.0.0.1:{settings.collector_port}"


def carried(file: str, mark: Mark, make: Make, client: Client) -> Sent:
    """Sends the lines of a file that the mark has not seen; status 4 where nobody takes them."""
    with opened(file) as lines, client:
        lines.seek(mark.offset) if file != "-" else None
        try:
            return send_all(client, lines, mark, make, cli.complain)
        except NotSent as error:
            cli.complain(f"{error}. What was acknowledged is remembered: run the same command again.")
            raise typer.Exit(cli.NOT_RUNNING) from error


def _event(line: bytes) -> Event:
    event = orjson.loads(line)
    if not isinstance(event, dict):
        raise Refused("not_an_object", "an event is a JSON object")
    return event
