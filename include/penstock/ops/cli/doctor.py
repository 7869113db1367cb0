"""`penstock doctor`: is this machine fit, and what mends it if not."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from penstock.ops import cli
from penstock.ops import doctor as examiner
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    deep: Annotated[bool, typer.Option("--deep", help="Read every row of the lake, not only what files say.")] = False,
    checkpoints: Annotated[bool, typer.Option("--checkpoints", help="Only the checkpoints of all streams.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Check Python, Java, memory, disk, packages, jars, home, ports, clock, stray processes and the lake's tables."""
    settings = Settings.from_env()
    findings = list(examiner.checkpoints(settings) if checkpoints else examiner.examine(settings, deep))
    if as_json:
        cli.say([{**asdict(each), "well": each.well} for each in findings])
    else:
        screen = Console(highlight=False, soft_wrap=True)
        for each in findings:
            mark = "[green]well[/]" if each.well else "[red]ill [/]"
            screen.print(f"{mark}  {each.check:<10} {each.told}{f'  mend: {each.mend}' if each.mend else ''}")
    raise typer.Exit(0 if all(each.well for each in findings) else cli.UNWELL)
