"""`penstock repair` and `penstock repairs`: rejected records that can be read after all."""

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.ops import cli
from penstock.ops.cli.operating import DryRun, Json, NoWait, Yes, operated, planned
from penstock.refusal import Refusal
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.lake.repairs import Repair

Source = Annotated[str, typer.Option(help="The source, such as web.events.")]


def register(app: typer.Typer) -> None:
    app.command()(repair)
    app.command()(repairs)


def repair(
    source: Source,
    why: Annotated[str, typer.Option(help="For the audit: what was wrong with them, in a sentence.")],
    reason: Annotated[str, typer.Option(help="Why they were rejected; see `penstock rejected`.")] = "",
    rename: Annotated[str, typer.Option(help="old=new, with commas.")] = "",
    cast: Annotated[str, typer.Option(help="field=integer, number, string or boolean; with commas.")] = "",
    default: Annotated[str, typer.Option(help="field=value, with commas.")] = "",
    revoke: Annotated[str, typer.Option(help="The repair to take back.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Shape rejected records again after a repair, by the DAG `repair`, which says first what would become of them."""
    from penstock.lake import correcting
    from penstock.ops.cli import named

    named.source(source)
    try:
        changes = correcting.asked(rename, cast, default)
        said = correcting.named("asked", source, reason, *changes, revoke)
    except correcting.BadRepair as refusal:
        raise Refusal(f"{refusal}. What fits: `penstock rejected --source {source}`") from refusal
    if dry_run:
        planned(_looked(said), as_json)
        return
    form = {"source": source, "reason": reason, "rename": rename, "cast": cast, "default": default, "revoke": revoke}
    operated("repair", {**form, "why": why}, source, yes=yes, no_wait=no_wait, as_json=as_json)


def _looked(said: "Repair") -> str:
    """It takes a session of its own, and the log, which knows the schemas that senders have registered."""
    from penstock.engine.repair import looked
    from penstock.log.topics import LogUnreachable

    try:
        return looked(Settings.from_env(), said)
    except LogUnreachable as refusal:
        raise Refusal(str(refusal)) from refusal


def repairs(source: Source, as_json: Json = False) -> None:
    """What was repaired of a source, and what was taken back of it, in order."""
    from penstock.lake.layout import Layout
    from penstock.lake.repairs import REPAIRS
    from penstock.ops.cli import named

    held = REPAIRS.in_force(Layout(Settings.from_env().lake), named.source(source).name)
    if as_json:
        cli.say([each.__dict__ for each in held])
        return
    cli.listed(f"{each.id}  {_what(each)}  {each.records:,} records  {each.by}: {each.why}" for each in held)


def _what(said: "Repair") -> str:
    return f"revokes {said.of}" if said.of else f"repairs {said.reason}"
