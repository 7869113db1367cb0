"""`penstock report`: the week of a page, as a file or by mail."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.ops import cli
from penstock.ops.alerts.routes import mailed
from penstock.ops.report import Asked, document, page_of, today
from penstock.serve.asking import NotAnswered
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    scope: Annotated[str, typer.Argument(help="What the page is of; for the web, a site.")],
    domain: Annotated[str, typer.Option(help="The domain whose page it is.")] = "web",
    out: Annotated[Path, typer.Option(help="Where the HTML goes.")] = Path("report.html"),
    send: Annotated[bool, typer.Option("--send", help="Also mail it, to `report=` of alerts.conf.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document at the end.")] = False,
) -> None:
    """Write the last seven whole days of a page, against the week before: headlines, chart, lists.

    Status 1 when nobody took the mail, 4 when the read API does not answer."""
    settings, until = Settings.from_env(), today()
    try:
        text = document(Asked(domain, page_of(domain), scope, until, f"http://127.0.0.1:{settings.serve_port}"))
    except NotAnswered as error:
        cli.complain(str(error))
        raise typer.Exit(cli.NOT_RUNNING) from error
    out.write_text(text)
    sent = mailed(settings.home, f"{scope}: the week to {until.date()}", out) if send else None
    told = {"report": str(out), "bytes": len(text), "sent": sent}
    cli.say(told) if as_json else sys.stdout.write(f"{out}: {len(text):,} characters\n")
    raise typer.Exit(cli.UNWELL if sent is False else 0)
