"""`penstock restore-point` and `penstock rewind`: a moment to go back to, and the way back."""

import getpass
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from penstock.ops import cli
from penstock.ops.refusal import Refusal
from penstock.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


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
    for point in known:
        typer.echo(f"{point.id}  {point.kind:<7}  {len(point.tables):>3} tables  {point.by}: {point.why}")


def rewind(
    to: Annotated[str, typer.Argument(help="A restore point's id, or its beginning; `latest`.")],
    domain: Annotated[str, typer.Option(help="Whose tables go back.")],
    why: Annotated[str, typer.Option(help="For the audit: what went wrong, in a sentence.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Approve what the plan says.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return once it is triggered.")] = False,
    as_json: Json = False,
) -> None:
    """Bring a domain back to a restore point, by the DAG `rewind`. The present is kept as a restore point."""
    from penstock.engine.returning import text
    from penstock.engine.ways import CannotRewind
    from penstock.lake.layout import Layout
    from penstock.lake.restore_points import NoSuchPoint, find
    from penstock.model.domain import domains
    from penstock.ops.cockpit import operate

    settings = Settings.from_env()
    if domain not in domains():
        raise Refusal(f"There is no domain {domain!r}; there are: {', '.join(domains())}.")
    try:
        point = find(Layout(settings.lake), to)
        told = text(settings, domain, point.id)
    except (CannotRewind, NoSuchPoint) as refusal:
        raise Refusal(str(refusal)) from refusal
    if dry_run:
        cli.say({"point": point.id, "plan": told}) if as_json else Console().print(Markdown(told))
        return
    form = {"domain": domain, "point": point.id, "why": why}
    done = operate(
        settings, "rewind", form, approve=yes, wait=not no_wait, tell=lambda line: typer.echo(line, err=True)
    )
    cli.say(done) if as_json else typer.echo(f"rewind of {domain} to {point.id}: {done['state']}")
