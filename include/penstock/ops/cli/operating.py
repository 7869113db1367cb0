"""What the commands that trigger an operation's DAG have in common: their options, and how they tell of its run."""

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

from penstock.ops import cli
from penstock.settings import Settings

Yes = Annotated[bool, typer.Option("--yes", help="Approve what the plan says.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Return once it is triggered.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def operated(dag: str, form: dict[str, Any], about: str, *, yes: bool, no_wait: bool, as_json: bool) -> None:
    """Triggers the DAG as its form would, and says how its run ended."""
    # An HTTP client takes a moment to import; the command line's other commands need none.
    from penstock.cockpit import operate

    done = operate(
        Settings.from_env(), dag, form, approve=yes, wait=not no_wait, tell=lambda line: typer.echo(line, err=True)
    )
    cli.say(done) if as_json else typer.echo(f"{dag} of {about}: {done['state']}")


def planned(told: str, as_json: bool, **more: object) -> None:
    """A dry run's end: what would change."""
    cli.say({"plan": told, **more}) if as_json else Console().print(Markdown(told))
