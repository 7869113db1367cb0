"""`penstock restore-point` and `penstock rewind`: a moment to go back to, and the way back."""

import getpass
from typing import Annotated

import typer

from penstock.ops import cli
from penstock.ops.cli.operating import DryRun, Json, NoWait, Yes, operated, planned
from penstock.refusal import Refusal
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Moments to go back to: take one, list them.", no_args_is_help=True)
    group.command()(create)
    group.command(name="list")(listed)
    app.add_typer(group, name="restore-point")
    app.command()(rewind)


def create(
    why: Annotated[str, typer.Option(help="What is about to happen, or why this moment is a good one.")],
    as_json: Json = False,
) -> None:
    """Pin every table's version and every stream's offsets. Takes a second or two; nothing is copied or stopped."""
    from penstock.engine.pinning import Restless, take
    from penstock.lake.layout import Layout

    try:
        point = take(Layout(Settings.from_env().lake), "hand", getpass.getuser(), why)
    except Restless as restless:
        raise Refusal(str(restless)) from restless
    cli.say(point.as_dict()) if as_json else typer.echo(f"{point.id}: {len(point.tables)} tables")


def listed(as_json: Json = False) -> None:
    """Every point that can still be gone back to, newest first."""
    from penstock.lake.layout import Layout
    from penstock.lake.restore_points import points

    known = points(Layout(Settings.from_env().lake))
    if as_json:
        cli.say([point.as_dict() for point in known])
        return
    cli.listed(f"{one.id}  {one.kind:<7}  {len(one.tables):>3} tables  {one.by}: {one.why}" for one in known)


def rewind(
    to: Annotated[str, typer.Argument(help="A restore point's id, or its beginning; `latest`.")],
    domain: Annotated[str, typer.Option(help="Whose tables go back; all: of every domain.")],
    why: Annotated[str, typer.Option(help="For the audit: what went wrong, in a sentence.")],
    dry_run: DryRun = False,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Bring a domain, or the whole lake, back to a restore point, by the DAG `rewind`. The present is kept."""
    from penstock.engine.returning import ALL, text
    from penstock.engine.ways import CannotRewind
    from penstock.lake.layout import Layout
    from penstock.lake.restore_points import NoSuchPoint, find
    from penstock.model.domain import domains

    settings = Settings.from_env()
    if domain not in (ALL, *domains()):
        raise Refusal(f"There is no domain {domain!r}; there are: {', '.join(domains())}, {ALL}.")
    try:
        point = find(Layout(settings.lake), to)
        told = text(settings, domain, point.id)
    except (CannotRewind, NoSuchPoint) as refusal:
        raise Refusal(str(refusal)) from refusal
    if dry_run:
        planned(told, as_json, point=point.id)
        return
    form = {"domain": domain, "point": point.id, "why": why}
    operated("rewind", form, f"{domain} to {point.id}", yes=yes, no_wait=no_wait, as_json=as_json)
