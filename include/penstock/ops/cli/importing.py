"""`penstock import`: history from the logs of web servers, or from a table, as the same facts that are live."""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from penstock.client import Client, Refused
from penstock.collect.agent.formats import FORMATS, Parse, parsed
from penstock.ops import cli
from penstock.ops.cli.send import AsJson, OfSource, Restart, ToUrl, WithKey, carried, collector
from penstock.ops.sending import Event, Mark, opened
from penstock.ops.stack.home import open_home
from penstock.refusal import Refusal
from penstock.settings import Settings

# Formats whose lines say what the lines after them mean.
HEADED = {"csv": lambda number, line: number == 0, "w3c": lambda number, line: line.startswith(b"#")}


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


def import_(
    file: Annotated[Path, typer.Argument(help="A log or a table, one line a record.")],
    format: Annotated[str, typer.Option(help="combined (Apache, nginx), w3c (IIS) or csv.")],
    site: Annotated[str, typer.Option(help="The site that the records belong to.")],
    source: OfSource = "web.events",
    url: ToUrl = "",
    key: WithKey = "",
    restart: Restart = False,
    as_json: AsJson = False,
) -> None:
    """Import history. If it is stopped, the same command goes on where it was; done twice, it changes nothing.

    Status 1 when lines could not be read (each is named on standard error), 4 when the collector cannot be reached."""
    settings = Settings.from_env()
    reading, make = _format(source, format)
    mark = Mark(settings.home / "run" / "send", str(file), source, restart)
    salt = open_home(settings.home).secret("import").encode()
    parse = FORMATS[reading]()
    with opened(str(file)) as lines:
        _headed(parse, reading, lines.read(mark.offset))

    def event(line: bytes) -> Event | None:
        fields = parsed(parse, _text(line))
        if fields is not None and "parse_hint" in fields:
            raise Refused("malformed", fields["parse_hint"])
        return None if fields is None else make(fields, site, salt)

    done = carried(str(file), mark, event, Client(url or collector(settings), source, key))
    told = f"{done.sent} events imported, {done.refused} refused, {done.passed_over} lines are no events\n"
    cli.say({**asdict(done), "file": str(file), "source": source}) if as_json else sys.stdout.write(told)
    raise typer.Exit(cli.UNWELL if done.refused else 0)


def _format(source: str, name: str) -> tuple[str, Callable[..., Event | None]]:
    formats: dict[str, Any] = dict(_importer(source).FORMATS)
    if name not in formats:
        raise Refusal(f"There is no format {name!r} for {source}. Say one of: {', '.join(formats)}.")
    reading, make = formats[name]
    return reading, make


def _importer(source: str) -> ModuleType:
    """The domain's own: what a line means is its knowledge."""
    module = f"domains.{source.partition('.')[0]}.importing"
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise Refusal(f"{source} has no importers. Turn the file into NDJSON, and use `penstock send`.")
    return import_module(module)


def _headed(parse: Parse, reading: str, before: bytes) -> None:
    """On going on: what earlier lines said of the later ones is read again."""
    says = HEADED.get(reading)
    for number, line in enumerate(before.splitlines()):
        if says is not None and says(number, line):
            parsed(parse, _text(line))


def _text(line: bytes) -> str:
    """Spreadsheets begin a table with a mark of its encoding."""
    return line.decode(errors="replace").removeprefix("\ufeff").rstrip("\r\n")
