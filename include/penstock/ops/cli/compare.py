"""`penstock compare`: what two releases of a domain answer otherwise, and why."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from penstock.lake.layout import Layout
from penstock.lake.releases import Refused
from penstock.model.domain import domains
from penstock.ops import cli
from penstock.refusal import Refusal
from penstock.serve.compare.comparison import Comparison
from penstock.serve.compare.comparison import compare as compared
from penstock.serve.compare.markdown import markdown
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(compare)


def compare(
    domain: Annotated[str, typer.Argument(help="Which domain, such as web.")],
    before: Annotated[str, typer.Argument(help="The release that people know, such as r1.")],
    after: Annotated[str, typer.Argument(help="The one they may be switched to.")],
    to: Annotated[Path | None, typer.Option("--markdown", help="Also write it to this file, for a review.")] = None,
    max_change: Annotated[
        float | None, typer.Option(help="Percent: status 1 when any measure changed by more.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Compare two releases: records judged otherwise and why, rows of views added, lost and changed, measures."""
    settings = Settings.from_env()
    if domain not in domains():
        raise Refusal(f"There is no domain {domain!r}. Choose one of: {', '.join(domains())}.")
    try:
        told = compared(Layout(settings.lake), settings.home, domain, before, after)
    except Refused as refused:
        raise Refusal(str(refused)) from refused
    if to:
        to.write_text(markdown(told))
    inside = max_change is None or told.within(max_change)
    if as_json:
        cli.say({**told.as_dict(), "within": inside})
    else:
        _print(told)
    if not inside:
        cli.complain(f"{told.share():.3%} is more than {max_change} % or not comparable: somebody should look.")
    raise typer.Exit(0 if inside else cli.UNWELL)


def _print(told: Comparison) -> None:
    screen = Console()
    names = ("rows", "added", "lost", "changed", "change", "because of")
    table = Table(Column("view", no_wrap=True), *names, box=None, pad_edge=False)
    for view in told.views:
        why = view.note or ", ".join(f"{cause.name} ({cause.share:.0%})" for cause in view.causes[:2])
        counts = (f"{number:,}" for number in (view.rows, view.added, view.lost, view.changed))
        table.add_row(view.view, *counts, f"{view.share:.3%}", why or "the same")
    screen.print(table)
    for source in told.sources:
        why = ", ".join(f"{cause.name}: {cause.records:,}" for cause in source.causes[:4])
        screen.print(f"{source.source}: {source.moved:,} of {source.compared:,} records are judged otherwise. {why}")
        if source.ahead:
            screen.print(f"  {source.ahead:,} more records are in one release only: it is ahead of the other.")
    if told.moving:
        screen.print(f"Left out, for they are still coming in: {', '.join(map(str, told.moving))}.")
