"""`penstock ledger`: whether what was accepted equals what was archived equals what became of it."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from confluent_kafka import KafkaException
from rich.console import Console
from rich.table import Table

from penstock.lake.layout import Layout
from penstock.lake.ledger import Balance, balances
from penstock.ops import cli
from penstock.ops.cli import named
from penstock.refusal import Refusal
from penstock.settings import Settings

COUNTS = {
    "accepted": "accepted",
    "archived": "archived",
    "facts": "facts",
    "rejected": "rejected",
    "duplicates": "dupl.",
}


def register(app: typer.Typer) -> None:
    app.command()(ledger)


def ledger(
    source: Annotated[str | None, typer.Option(help="One source, such as web.events; all when absent.")] = None,
    release: Annotated[str, typer.Option(help="The release whose silver is judged; the current one when absent.")] = "",
    hours: Annotated[int, typer.Option(min=1, help="How many hours back, beside the open one.")] = 24,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Show the books by source and hour. Exit status 1: a closed hour does not balance."""
    settings = Settings.from_env()
    since = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours)
    rows = [row for row in _books(settings, source, release) if row.hour >= since]
    wrong = [row for row in rows if not row.balanced and not row.open]
    if as_json:
        cli.say({"balanced": not wrong, "hours": [row.as_dict() for row in rows]})
    elif rows:
        Console().print(_table(rows))
    else:
        typer.echo(f"No record was archived in the last {hours} hours. `penstock send` and docs/collect.md send some.")
    for row in wrong:
        cli.complain(
            f"{row.source} at {row.hour:%Y-%m-%d %H:00}: {row.wrong}. See `penstock status` for a stream that failed "
            "or lags; what is booked twice is counted anew as docs/runbooks/ledger_unbalanced.md says."
        )
    raise typer.Exit(cli.UNWELL if wrong else 0)


def _books(settings: Settings, source: str | None, release: str) -> list[Balance]:
    layout = Layout(settings.lake)
    if source:
        named.source(source)
    if release:
        named.release(layout, release)
    try:
        return balances(layout, settings.kafka, source, release)
    except KafkaException as lost:
        raise Refusal(
            f"The log does not answer at {settings.kafka} ({lost.args[0].str()}), so nobody can say what it accepted. "
            "`penstock status` says how it is; what is archived stays."
        ) from lost


def _table(rows: list[Balance]) -> Table:
    """Fits 80 columns: a table that is squeezed shows nothing."""
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("source", no_wrap=True)
    table.add_column("hour (UTC)", no_wrap=True)
    # Only where something was: an operator accepted it, and it is named for ever.
    shown = {**COUNTS, "lost": "lost"} if any(row.lost for row in rows) else COUNTS
    for title in shown.values():
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("balance", no_wrap=True)
    for row in rows:
        counts = ["?" if getattr(row, name) is None else f"{getattr(row, name):,}" for name in shown]
        table.add_row(row.source, f"{row.hour:%m-%d %H:00}", *counts, _verdict(row))
    return table


def _verdict(row: Balance) -> str:
    return "open" if row.open else "yes" if row.balanced else "NO"
