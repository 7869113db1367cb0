"""`penstock rebuild`: a table that was dropped or damaged, from what it was made of."""

from typing import Annotated

import typer

from penstock.ops.cli.operating import Json, NoWait, Yes, operated


def register(app: typer.Typer) -> None:
    app.command()(rebuild)


def rebuild(
    table: Annotated[str, typer.Argument(help="As `penstock doctor` names it, such as silver/r1/web.events.")],
    why: Annotated[str, typer.Option(help="For the audit: what happened to it, in a sentence.")],
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Rebuild bronze from the log, silver from bronze or a view from silver, by the DAG `rebuild`."""
    operated("rebuild", {"table": table, "why": why}, table, yes=yes, no_wait=no_wait, as_json=as_json)
