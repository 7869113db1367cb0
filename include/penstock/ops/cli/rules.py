"""`penstock rules`: the rules that there are, what they would have told of history, and what they told."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from penstock.lake import alerts
from penstock.lake.layout import Layout
from penstock.lake.releases import current
from penstock.model.domain import domains
from penstock.model.rule import AnyRule, Misdeclared, Threshold
from penstock.ops import cli
from penstock.ops.cli import named
from penstock.refusal import Refusal
from penstock.settings import Settings

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
DAYS, MOST_DAYS = 7, 400


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Rules: what somebody wants to be told of at once.", no_args_is_help=True)
    group.command("list")(listed)
    group.command("try")(tried)
    group.command("told")(told)
    app.add_typer(group, name="rules")


def listed(as_json: Json = False) -> None:
    """List the rules of all domains."""
    every = [each for domain in domains().values() for each in domain.rules]
    if as_json:
        cli.say([_described(each) for each in every])
        return
    cli.listed(line for each in every for line in _lines(each))


def tried(
    name: Annotated[str, typer.Argument(help="Which rule, such as web.slow_page.")],
    days: Annotated[int, typer.Option(help="How many days back.", min=1, max=MOST_DAYS)] = DAYS,
    as_json: Json = False,
) -> None:
    """Say how often a rule would have fired on each of the last days, before it is armed."""
    asked, settings, today = named.rule(name), Settings.from_env(), datetime.now(UTC).date()
    if isinstance(asked, Threshold):
        _print(_numbers(settings, asked, days, today), as_json)
        return
    layout = Layout(settings.lake)
    silver = layout.silver(current(layout, asked.of.source.domain), asked.about)
    _print(alerts.tried(asked, silver, days, today), as_json)


def _numbers(settings: Settings, asked: Threshold, days: int, today: date) -> list[dict[str, Any]]:
    """Of a threshold: as serve would answer, from the current release."""
    from penstock.serve.engine import Engine
    from penstock.serve.judging import tried
    from penstock.serve.problems import Problem
    from penstock.serve.reader import Reader

    engine = Engine()
    try:
        reader = Reader(Layout(settings.lake), engine, settings.home)
        reader.refresh()
        return tried(reader, asked, days, today)
    except Misdeclared as refused:
        raise Refusal(str(refused)) from refused
    except Problem as problem:
        raise Refusal(f"{problem.title}: {problem.detail}.") from problem
    finally:
        engine.close()


def told(
    name: Annotated[str, typer.Argument(help="Which rule; all of them when absent.")] = "",
    limit: Annotated[int, typer.Option(help="Alerts at most.", min=1, max=10_000)] = 20,
    as_json: Json = False,
) -> None:
    """Show the newest alerts."""
    if name:
        named.rule(name)
    rows = alerts.latest(Layout(Settings.from_env().lake).alerts(), name, limit)
    _print(
        rows if as_json else [{name: row[name] for name in ("rule", "received_at", "fact")} for row in rows], as_json
    )


def _described(each: AnyRule) -> dict[str, Any]:
    fixed = {
        "rule": each.name,
        "version": each.version,
        "armed": each.armed,
        "urgent": each.urgent,
        "source": each.about,
    }
    asked = {"where": each.where, "every": each.every, "by": ", ".join(each.by)}
    return {**fixed, **asked, "doc": each.doc}


def _lines(each: AnyRule) -> Iterator[str]:
    """Conditions are long: a table would squeeze them until nothing can be read."""
    state = f"armed{', urgent' if each.urgent else ''}" if each.armed else "not armed"
    yield f"{each.name}  version {each.version}  {state}  of {each.about}"
    by = f", by {', '.join(each.by)}" if each.by else ""
    yield f"    {each.where}{f'  every {each.every}{by}' if each.every else ''}"
    yield f"    {each.doc}"


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        cli.say(rows)
        return
    if not rows:
        typer.echo("none")
        return
    table = Table(*rows[0], box=None)
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console().print(table)
