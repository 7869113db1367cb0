"""`penstock bench`: runs one benchmark and prints its figures."""

from typing import Annotated

import typer
from rich.console import Console

from penstock.ops import bench as kit
from penstock.ops import cli


def register(app: typer.Typer) -> None:
    app.command()(bench)


def bench(
    name: Annotated[str, typer.Argument(help="Which benchmark; see `penstock bench list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="A variant of a minute or so.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON Lines: one object a figure.")] = False,
) -> None:
    """Measure one promise of the product and print each figure with the load of the machine.

    Status 1 when a result was wrong; a goal that was missed is a figure, not an error."""
    if name == "list":
        cli.say(kit.names()) if as_json else Console().print("\n".join(kit.names()))
        return
    sound = True
    for figure in kit.load(name)(quick):
        sound = sound and figure.gate_ok
        cli.say(figure.as_dict()) if as_json else Console().print(figure.line(), highlight=False)
    raise typer.Exit(0 if sound else cli.UNWELL)
