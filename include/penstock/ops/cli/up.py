"""`penstock up` and `penstock down`: the stack of one machine."""

import time
from typing import Annotated

import typer
from rich.console import Console

from penstock.ops import cli
from penstock.ops.stack import foreground, home, run, table
from penstock.ops.stack.run import Stack
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(down)


def up(
    detach: Annotated[bool, typer.Option("--detach", help="Return when all is well; end with `down`.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document when all is well.")] = False,
) -> None:
    """Start the whole stack and show it until Ctrl-C, which leaves no process behind."""
    screen = Console(stderr=as_json)
    begun = time.monotonic()
    stack = run.start(Settings.from_env(), detach=detach)
    if stack.recovered:
        screen.print(f"Stopped {stack.recovered} processes that a killed supervisor had left.")
    if detach:
        raise typer.Exit(report(stack, screen, begun, as_json))
    status = 0
    with foreground.running(stack, screen):
        status = report(stack, screen, begun, as_json) or stay(stack, screen)
    raise typer.Exit(status)


def report(stack: Stack, screen: Console, begun: float, as_json: bool) -> int:
    """Waits until all is well, says so, and returns the exit status."""
    told = foreground.until_well(stack, screen)
    seconds = time.monotonic() - begun
    ill = [each.part for each in told if not each.well]
    if as_json:
        cli.say({"well": not ill, "seconds": round(seconds, 1), "parts": [each.as_dict() for each in told]})
    else:
        screen.print(table.table(told, stack.home, seconds))
    if ill:
        cli.complain(f"Not well after {seconds:.0f} s: {', '.join(ill)}. See `penstock logs {ill[0]}`.")
    return cli.UNWELL if ill else 0


def stay(stack: Stack, screen: Console) -> int:
    """Shows the stack until a signal ends this; getting to the end means that the supervisor died."""
    foreground.watch(stack, screen)
    cli.complain("The supervisor was killed, so all parts were stopped. Start again: `penstock up`.")
    return cli.UNWELL


def down(as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False) -> None:
    """Stop the stack of this home, and whatever a killed supervisor left. Stopping a stopped stack is no error."""
    begun = time.monotonic()
    place = home.open_home(Settings.from_env().home)
    ran = place.lives()
    left = run.stop(place)
    seconds = time.monotonic() - begun
    if as_json:
        cli.say({"ran": ran, "orphans": left, "seconds": round(seconds, 1)})
        return
    was = f"Stopped in {seconds:.1f} s" if ran else "No stack was running"
    Console().print(f"{was}; {left} orphans found and stopped." if left else f"{was}; no process is left.")
