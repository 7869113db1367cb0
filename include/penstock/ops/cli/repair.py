"""`penstock repair` and `penstock repairs`: rejected records that can be read after all."""

from typing import Annotated

import typer

from penstock.ops import cli
from penstock.ops.cli.operating import Json, NoWait, Yes, operated
from penstock.ops.refusal import Refusal
from penstock.settings import Settings

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
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Shape rejected records again after a repair, by the DAG `repair`, which says first what would become of them."""
    from penstock.engine.correcting import BadRepair, asked, named

    try:
        named("asked", source, reason, *asked(rename, cast, default), revoke)
    except BadRepair as refusal:
        raise Refusal(str(refusal)) from refusal
    form = {"source": source, "reason": reason, "rename": rename, "cast": cast, "default": default, "revoke": revoke}
    operated("repair", {**form, "why": why}, source, yes=yes, no_wait=no_wait, as_json=as_json)


def repairs(source: Source, as_json: Json = False) -> None:
    """What was repaired of a source, and what was taken back of it, in order."""
    from penstock.lake.layout import Layout
    from penstock.lake.repairs import REPAIRS

    held = REPAIRS.in_force(Layout(Settings.from_env().lake), source)
    if as_json:
        cli.say([each.__dict__ for each in held])
        return
    for each in held:
        what = f"revokes {each.of}" if each.of else f"repairs {each.reason}"
        typer.echo(f"{each.id}  {what}  {each.records:,} records  {each.by}: {each.why}")
