"""`penstock rejected`: what was rejected, grouped by reason and shape, with examples and what might mend it."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.ops import cli
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.lake.proposing import Proposal
    from penstock.lake.rejected import Group

LONGEST = 160


def register(app: typer.Typer) -> None:
    app.command()(rejected)


def rejected(
    source: Annotated[str, typer.Option(help="The source, such as web.events.")],
    reason: Annotated[str, typer.Option(help="Only of this reason.")] = "",
    most: Annotated[int, typer.Option(min=1, help="So many groups.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Group what was rejected by reason and shape of its JSON, with three examples each and a repair to be tried."""
    from penstock.lake.layout import Layout
    from penstock.lake.proposing import proposed
    from penstock.lake.rejected import groups
    from penstock.lake.releases import current
    from penstock.ops.cli import named

    layout = Layout(Settings.from_env().lake)
    of = named.source(source)
    found = [
        (group, proposed(of, group)) for group in groups(layout, current(layout, of.domain), of.name, reason, most)
    ]
    if as_json:
        cli.say([{**asdict(group), "proposal": told and asdict(told)} for group, told in found])
        return
    cli.listed(line for group, told in found for line in _lines(group, told))


def _lines(group: "Group", told: "Proposal | None") -> Iterator[str]:
    yield f"{group.records:,} {group.reason}: {group.shape[:LONGEST]}"
    for example in group.examples:
        yield f"    {example['at']}  {(example['raw'] or '')[:LONGEST]}"
    if told:
        yield f"    -> {told}"
