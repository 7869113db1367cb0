"""`penstock retract`, `restate`, `retractions`, `restatements`: facts that should not count, or that say it wrongly."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.ops import cli
from penstock.ops.cli.operating import DryRun, Json, NoWait, Yes, operated, planned
from penstock.refusal import Refusal
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.lake.retractions import Retraction

Source = Annotated[str, typer.Option(help="The source, such as web.events.")]
Why = Annotated[str, typer.Option(help="For the audit: what is wrong with them, in a sentence.")]
Where = Annotated[str, typer.Option(help="A condition on facts, in SQL; with --revoke: which of them.")]
First = Annotated[str, typer.Option("--from", help="A UTC day or a moment of happened_at.")]
Last = Annotated[str, typer.Option("--to", help="A day, included, or a moment, excluded.")]
Revoke = Annotated[str, typer.Option(help="What to take back, whole or where --where holds.")]
Confirmed = Annotated[bool, typer.Option("--confirmed", help="Also if it is about every fact, or none.")]


def register(app: typer.Typer) -> None:
    for command in (retract, restate, retractions, restatements):
        app.command()(command)


def retract(
    source: Source,
    why: Why,
    where: Where = "",
    first: First = "",
    last: Last = "",
    revoke: Revoke = "",
    confirmed: Confirmed = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Retract facts by a condition, or take a retraction back, by the DAG `retract`. Nothing is erased."""
    from penstock.engine.blast import text

    told = _told(text, source, where, first, last, revoke)
    if dry_run:
        planned(_with_listeners(told, source), as_json)
        return
    form = {"source": source, "where": where, "from": first, "to": last, "revoke": revoke, "confirmed": confirmed}
    operated("retract", {**form, "why": why}, source, yes=yes, no_wait=no_wait, as_json=as_json)


def restate(
    source: Source,
    why: Why,
    where: Where = "",
    first: First = "",
    last: Last = "",
    field: Annotated[str, typer.Option(help="The field that says something wrong.")] = "",
    value: Annotated[str, typer.Option(help="What is right: SQL on the columns of the same fact.")] = "",
    confirmed: Confirmed = False,
    revoke: Revoke = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Correct a field of facts by a rule, or take that back, by the DAG `restate`. What they said before is kept."""
    from penstock.engine.blast import restated

    told = _told(restated, source, where, first, last, field, value, revoke)
    if dry_run:
        planned(_with_listeners(told, source), as_json)
        return
    form = {"source": source, "where": where, "from": first, "to": last, "field": field, "value": value}
    form |= {"revoke": revoke, "why": why}
    operated("restate", {**form, "confirmed": confirmed}, source, yes=yes, no_wait=no_wait, as_json=as_json)


def _told(text: Callable[..., str], source: str, *asked: Any) -> str:
    """What would change; refused in words where it cannot be done."""
    from penstock.engine.conditions import BadCondition
    from penstock.lake.layout import Layout
    from penstock.lake.statements import NoSuchStatement
    from penstock.model.domain import UnknownName

    try:
        return text(Layout(Settings.from_env().lake), source, *asked)
    except (BadCondition, NoSuchStatement, UnknownName) as refusal:
        raise Refusal(str(refusal)) from refusal


def _with_listeners(told: str, source: str) -> str:
    from penstock.ops.listeners import listeners

    return f"{told}\n\n{listeners(Settings.from_env(), source)}"


def retractions(source: Source, as_json: Json = False) -> None:
    """What is retracted of a source now, and what was taken back of it, in order."""
    from penstock.lake.retractions import Retraction

    _listed(source, Retraction.verb, as_json)


def restatements(source: Source, as_json: Json = False) -> None:
    """What is restated of a source now, and what was taken back of it, in order."""
    from penstock.lake.retractions import Restatement

    _listed(source, Restatement.verb, as_json)


def _listed(source: str, verb: str, as_json: bool) -> None:
    from penstock.lake.layout import Layout
    from penstock.lake.retractions import RETRACTIONS
    from penstock.ops.cli import named

    stated = RETRACTIONS.in_force(Layout(Settings.from_env().lake), named.source(source).name)
    held = [each for each in stated if each.verb == verb]
    if as_json:
        cli.say([each.__dict__ for each in held])
        return
    cli.listed(
        f"{each.id}  {_what(each)}  {each.records:,} records where {each.where}  {each.by}: {each.why}" for each in held
    )


def _what(said: "Retraction") -> str:
    from penstock.lake.retractions import Restatement

    if said.of:
        return f"revokes {said.of}"
    return f"restates {said.field} as {said.value}" if isinstance(said, Restatement) else "retracts"
