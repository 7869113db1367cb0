"""`penstock retract` and `penstock retractions`: facts that should not count, and what holds them."""

from typing import Annotated

import typer

from penstock.ops import cli
from penstock.ops.cli.operating import DryRun, Json, NoWait, Yes, operated, planned
from penstock.ops.refusal import Refusal
from penstock.settings import Settings

Source = Annotated[str, typer.Option(help="The source, such as web.events.")]


def register(app: typer.Typer) -> None:
    app.command()(retract)
    app.command()(retractions)


def retract(
    source: Source,
    why: Annotated[str, typer.Option(help="For the audit: what is wrong with them, in a sentence.")],
    where: Annotated[str, typer.Option(help="A condition on facts, in SQL; with --revoke: which of them.")] = "",
    first: Annotated[str, typer.Option("--from", help="A UTC day or a moment of happened_at.")] = "",
    last: Annotated[str, typer.Option("--to", help="A day, included, or a moment, excluded.")] = "",
    revoke: Annotated[str, typer.Option(help="The retraction to take back, whole or where --where holds.")] = "",
    confirmed: Annotated[bool, typer.Option("--confirmed", help="Also if it is about every fact, or none.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Retract facts by a condition, or take a retraction back, by the DAG `retract`. Nothing is erased."""
    from penstock.engine.blast import text
    from penstock.engine.matching import BadCondition
    from penstock.lake.layout import Layout
    from penstock.lake.statements import NoSuchStatement
    from penstock.model.domain import UnknownName

    try:
        told = text(Layout(Settings.from_env().lake), source, where, first, last, revoke)
    except (BadCondition, NoSuchStatement, UnknownName) as refusal:
        raise Refusal(str(refusal)) from refusal
    if dry_run:
        planned(told, as_json)
        return
    form = {"source": source, "where": where, "from": first, "to": last, "revoke": revoke, "confirmed": confirmed}
    operated("retract", {**form, "why": why}, source, yes=yes, no_wait=no_wait, as_json=as_json)


def retractions(source: Source, as_json: Json = False) -> None:
    """What is retracted of a source now, and what was taken back of it, in order."""
    from penstock.lake.layout import Layout
    from penstock.lake.retractions import RETRACTIONS

    held = RETRACTIONS.in_force(Layout(Settings.from_env().lake), source)
    if as_json:
        cli.say([each.__dict__ for each in held])
        return
    for each in held:
        what = f"revokes {each.of}" if each.of else "retracts"
        typer.echo(f"{each.id}  {what}  {each.records:,} records where {each.where}  {each.by}: {each.why}")
