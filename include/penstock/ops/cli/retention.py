"""`penstock retention`: which facts go, how many, and whose rollups are kept as they are."""

from dataclasses import asdict
from datetime import UTC, datetime

import typer

from penstock.model.retention import BadRetention
from penstock.ops import cli
from penstock.ops.cli.operating import Json
from penstock.refusal import Refusal
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(retention)


def retention(as_json: Json = False) -> None:
    """Say what PENSTOCK_RETENTION takes of silver, and what of it the next nights would."""
    # What looks at tables takes a moment to import.
    from penstock.ops.retaining import Plan, plans

    def line(plan: Plan) -> str:
        going = f"{plan.days} days up to {plan.until}, {plan.rows:,} rows, {plan.bytes / 2**20:,.1f} MB"
        kept = f"rollups are kept as they are up to {plan.rollups_kept_until}"
        return (
            f"{plan.source} in {plan.release} keeps facts for {plan.keeps_days} days: "
            f"{kept if plan.rollups_kept_until else 'nothing has expired'}; "
            f"{f'to be emptied: {going}' if plan.days else 'nothing is due'}"
        )

    try:
        found = list(plans(Settings.from_env(), datetime.now(UTC)))
    except BadRetention as bad:
        raise Refusal(str(bad)) from bad
    if as_json:
        cli.say([asdict(plan) for plan in found])
    elif not found:
        typer.echo("PENSTOCK_RETENTION names no source: facts are kept for ever.")
    else:
        cli.listed(map(line, found))
