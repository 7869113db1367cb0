"""`penstock status` and `penstock logs`: what the stack is doing, and what its parts said."""

import os
from typing import Annotated

import typer
from rich.console import Console

from penstock.ops import cli
from penstock.ops.stack import home, run, table
from penstock.ops.stack.parts import parts
from penstock.ops.stack.state import states, streams
from penstock.refusal import Refusal
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(status)
    app.command()(logs)


def status(as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False) -> None:
    """Show each part: its state, port, memory and address, and the last epoch of each stream."""
    settings = Settings.from_env()
    place = home.open_home(settings.home)
    running = place.lives()
    told = states(place, parts(run.recorded(settings)))
    well = running and all(each.well for each in told)
    if as_json:
        rows = [each.as_dict() for each in told]
        cli.say({"running": running, "well": well, "parts": rows, "streams": streams(place)})
    elif running:
        Console().print(table.table(told, place), table.epochs(streams(place)))
    else:
        cli.complain(f"No stack runs in {place.folder}. Start it: `penstock up`.")
    raise typer.Exit(0 if well else cli.UNWELL if running else cli.NOT_RUNNING)


def logs(
    part: Annotated[str, typer.Argument(help="A part of the stack, or `supervisor`.")],
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as more is written.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document with the lines.")] = False,
) -> None:
    """Print what a part of the stack said last."""
    settings = Settings.from_env()
    known = ["supervisor", *(each.name for each in parts(run.recorded(settings)))]
    path = settings.home / "logs" / f"{part}.log"
    if part not in known:
        raise Refusal(f"There is no part {part!r}. Choose one of: {', '.join(known)}.")
    if not path.is_file():
        raise Refusal(f"{part} has not said anything yet. Start it: `penstock up`.")
    if as_json:
        cli.say({"part": part, "lines": path.read_text(errors="replace").splitlines()[-lines:]})
        return
    command = ["tail", f"--lines={lines}", *(["--follow=name", "--retry"] if follow else []), str(path)]
    os.execvp(command[0], command)  # noqa: S606
