"""`penstock demo`: the whole stack with simulated traffic, and a verdict."""

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console

from penstock.ops import cli
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    seconds: Annotated[float | None, typer.Option("--for", min=1, help="End by itself after so many seconds.")] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.1, help="Events a second.")] = 50,
    wrong: Annotated[float, typer.Option("--wrong", min=0, max=1, help="Share of wrong events.")] = 0.02,
    as_json: Annotated[bool, typer.Option("--json", help="The verdict as one JSON document.")] = False,
) -> None:
    """Start the stack, send simulated traffic through it, and say whether every stage moved data."""
    # Arrow and Delta take a second to import; the other commands need neither.
    from penstock.ops.demo.tour import lines, tour
    from penstock.ops.demo.traffic import Traffic
    from penstock.ops.stack import foreground, run

    screen = Console(stderr=as_json, highlight=False)
    # Whoever watches a demo sees its first minutes.
    settings = replace(Settings.from_env(), compiler="quick")
    stack = run.start(settings, detach=False)
    verdict = None
    with foreground.running(stack, screen):
        verdict = tour(stack, settings, screen, Traffic(rate, seconds, wrong))
    if verdict is None:
        # Ctrl-C is how an endless demo ends; one that was to give a verdict has given none.
        raise typer.Exit(cli.UNWELL if seconds else 0)
    if as_json:
        cli.say(verdict.as_dict())
    else:
        screen.print(
            f"\nAfter {verdict.seconds:.0f} s every stage moved data." if verdict.well else "\nThe demo failed."
        )
        screen.print(lines(verdict))
    raise typer.Exit(0 if verdict.well else cli.UNWELL)
