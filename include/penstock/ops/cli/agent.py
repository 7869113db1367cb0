"""`penstock agent`: runs an agent from its YAML file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from penstock.collect.agent.run import read, run
from penstock.collect.logs import to_stderr
from penstock.ops import cli
from penstock.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(agent)


def agent(
    file: Annotated[Path, typer.Argument(help="YAML that names sources, channel and sinks; see docs/agents.md.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document at the end.")] = False,
) -> None:
    """Run an agent until its sources end (only generators do) or it is stopped.

    It can be killed at any time: started again, it goes on where it was. Status 3 when the file has a mistake."""
    told = read(file, Settings.from_env().home)
    to_stderr()
    asyncio.run(run(told))
    if as_json:
        cli.say({"agent": told.name, "ended": True})
