"""`penstock checkpoints`: whether each stream's bookmark fits its table; rebuilds one, or accepts a loss."""

from dataclasses import replace
from typing import IO, Annotated

import typer

from penstock.engine import checkpoints, gaps
from penstock.engine.lease import LeaseTaken, leases_in, take
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.model.domain import domains
from penstock.ops import cli
from penstock.ops.cli import named
from penstock.refusal import Refusal
from penstock.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Release = Annotated[str, typer.Option(help="The release whose shapes are meant.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Bookmarks of the streams: examine, rebuild, accept a loss.", no_args_is_help=True)
    for command in (examine, rebuild, accept_loss):
        group.command()(command)
    app.add_typer(group, name="checkpoints")


def examine(release: Release = FIRST_RELEASE, as_json: Json = False) -> None:
    """Say what is wrong with each checkpoint. Exit status 1: one cannot be resumed from."""
    found = {place.job: checkpoints.examine(place) for place in _places(release)}
    _tell(found, as_json)
    raise typer.Exit(cli.UNWELL if any(found.values()) else 0)


def rebuild(release: Release = FIRST_RELEASE, as_json: Json = False) -> None:
    """Rebuild every checkpoint that is lost or damaged from its table; streams do the same when they start."""
    healed = {}
    for place in _places(release):
        with _leased(place.job, release):
            healed[place.job] = checkpoints.heal(place)
    _tell({job: f"rebuilt; it was {wrong}" if wrong else "" for job, wrong in healed.items()}, as_json)


def accept_loss(
    source: Annotated[str, typer.Argument(help="The source whose log has passed retention before it was read.")],
    release: Release = FIRST_RELEASE,
    as_json: Json = False,
) -> None:
    """Book records that the log no longer has as lost, and let the source's streams go on after them."""
    settings, lost = Settings.from_env(), 0
    named.source(source)
    for place in checkpoints.places(Layout(settings.lake), source, release):
        with _leased(place.job, release):
            written = checkpoints.book(place.table)
            if written is None:
                continue
            found = gaps.gaps(settings.kafka, source, checkpoints.wanted(place), written.topic)
            if any(gap.reason == "recreated" for gap in found):
                raise Refusal(f"{found[0]}. Its offsets would come twice: give the new topic a new source's name.")
            after = {**written.after, **{str(gap.partition): gap.next for gap in found}}
            if found:
                checkpoints.rewrite(place, replace(written, after=after), done=True)
            if place.job.startswith("archive-"):
                lost = gaps.book(settings.kafka, Layout(settings.lake).ledger(), found)
    _tell({source: f"{lost} records are booked as lost"}, as_json)


def _places(release: str) -> list[checkpoints.Place]:
    layout = Layout(Settings.from_env().lake)
    sources = [source.name for domain in domains().values() for source in domain.sources]
    return [place for source in sources for place in checkpoints.places(layout, source, release)]


def _leased(job: str, release: str) -> IO[str]:
    try:
        return take(leases_in(Settings.from_env().home), f"{job}-{release}")
    except LeaseTaken as taken:
        raise Refusal(str(taken)) from taken


def _tell(said: dict[str, str], as_json: bool) -> None:
    if as_json:
        cli.say(said)
        return
    for name, text in said.items():
        typer.echo(f"{name}: {text or 'well'}")
