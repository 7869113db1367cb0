"""`penstock rebuild`: a table that was dropped or damaged, from what it was made of."""

from typing import Annotated

import typer

from penstock.ops import cli
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(rebuild)


def rebuild(
    table: Annotated[str, typer.Argument(help="As `penstock doctor` names it, such as silver/r1/web.events.")],
    why: Annotated[str, typer.Option(help="For the audit: what happened to it, in a sentence.")],
    yes: Annotated[bool, typer.Option("--yes", help="Approve what the plan says.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return once it is triggered.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Rebuild bronze from the log, silver from bronze or a view from silver, by the DAG `rebuild`."""
    from penstock.ops.cockpit import operate

    form = {"table": table, "why": why}
    done = operate(
        Settings.from_env(), "rebuild", form,
        approve=yes, wait=not no_wait, tell=lambda line: typer.echo(line, err=True),
    )  # fmt: skip
    cli.say(done) if as_json else typer.echo(f"rebuild of {table}: {done['state']}")
