"""`penstock schema`: do the schemas of today fit what senders were told?"""

from dataclasses import asdict
from typing import Annotated

import typer

from penstock.ops import cli

schema = typer.Typer(no_args_is_help=True, help="Schemas of sources: check a change, release it.")


def register(app: typer.Typer) -> None:
    app.add_typer(schema, name="schema")


@schema.command()
def check(
    level: Annotated[str, typer.Option(help="BACKWARD, FORWARD, FULL or NONE.")] = "BACKWARD",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Compare every schema with its released version. Exit status 1: a change breaks somebody."""
    # The checkers take a moment to import.
    from penstock.collect.registry.compatible import LEVELS
    from penstock.collect.registry.files import check as checked

    if level.upper() not in LEVELS:
        raise typer.BadParameter(f"one of {', '.join(sorted(LEVELS))}", param_hint="--level")
    told = checked(level.upper())
    if as_json:
        cli.say([asdict(one) for one in told])
    for one in () if as_json else told:
        state = "BREAKS" if one.wrong else "changed, and fits" if one.changed else "as released"
        typer.echo(f"{one.source:<18} {one.kind:<12} {state}")
    for one in told:
        for sentence in one.wrong:
            cli.complain(f"{one.source} {one.kind}: {sentence}")
    raise typer.Exit(cli.UNWELL if any(one.wrong for one in told) else 0)


@schema.command()
def release(
    level: Annotated[str, typer.Option(help="BACKWARD, FORWARD, FULL or NONE: as in check.")] = "BACKWARD",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Make the schemas of today the released ones, if they fit those of before."""
    from penstock.collect.registry import files

    broken = [sentence for one in files.check(level.upper()) for sentence in one.wrong]
    if broken:
        cli.complain(f"Nothing was released. {'; '.join(broken)}. With --level NONE it is released all the same.")
        raise typer.Exit(cli.UNWELL)
    copied = files.release()
    if as_json:
        cli.say({"released": copied})
    else:
        typer.echo(f"released: {', '.join(copied) or 'nothing had changed'}")
