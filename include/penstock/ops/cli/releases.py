"""`penstock replay`, `switch`, `revert`, `releases`: a new release of a domain, and which one people read."""

import getpass
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from penstock.cockpit import operate
from penstock.lake.layout import Layout
from penstock.lake.pausing import pause, resume
from penstock.lake.releases import PREVIOUS, UNFINISHED, Refused, registry
from penstock.lake.replaying import said
from penstock.model.domain import domains
from penstock.ops import cli
from penstock.refusal import Refusal
from penstock.settings import Settings

Domain = Annotated[str, typer.Argument(help="Which domain, such as web.")]
Name = Annotated[str, typer.Argument(help="Which release, such as r2.")]
Why = Annotated[str, typer.Option(help="For the audit: what is wrong, in a sentence.")]
Yes = Annotated[bool, typer.Option("--yes", help="Approve what is asked, after having read it.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Start it and return; Airflow shows the rest.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def register(app: typer.Typer) -> None:
    for command in (replay, switch, revert):
        app.command()(command)
    group = typer.Typer(help="The releases of each domain.", no_args_is_help=True)
    group.command("list")(listed)
    group.command("drop")(drop)
    app.add_typer(group, name="releases")


def replay(
    domain: Annotated[str, typer.Option(help="Whose records.")],
    why: Why,
    code: Annotated[str, typer.Option(help="A folder, a wheel or a git revision; what is deployed when absent.")] = "",
    source: Annotated[str, typer.Option(help="Only this source; the others are taken over as they are.")] = "",
    view: Annotated[str, typer.Option(help="Only this view; facts and all others are taken over as they are.")] = "",
    start: Annotated[str, typer.Option("--from", help="Only what arrived on this UTC day or later.")] = "",
    end: Annotated[str, typer.Option("--to", help="Only what arrived on this UTC day or before.")] = "",
    cores: Annotated[int, typer.Option(min=1, help="How many cores it may use beside the live streams.")] = 1,
    yes: Yes = False,
    paused: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Of the replay that runs: wait; go on.")
    ] = None,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Make a new release of a domain from bronze, with the code you name; readers see nothing of it until a switch."""
    _known(domain)
    if paused is not None:
        _wait_or_go_on(domain, paused, why, as_json)
        return
    asked = {"domain": domain, "code": code, "source": source, "view": view, "from": start or None, "to": end or None}
    form = {**asked, "cores": cores, "why": why}
    _operate("replay", form, approve=yes, wait=not no_wait, as_json=as_json, sequel="penstock releases list")


def _wait_or_go_on(domain: str, paused: bool, why: str, as_json: bool) -> None:
    """Needs no Airflow: whoever makes the release looks in the registry after each epoch."""
    layout = Layout(Settings.from_env().lake)
    try:
        told = (pause if paused else resume)(layout, domain, getpass.getuser(), why)
    except Refused as refused:
        raise Refusal(str(refused)) from refused
    cli.say({"told": told}) if as_json else typer.echo(told)


def switch(
    domain: Domain,
    release: Name,
    why: Why,
    max_change: Annotated[float | None, typer.Option(help="Percent that may change without approval.")] = None,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Let people read another release from now on, once the comparison with the current one is approved."""
    _known(domain)
    form = {"domain": domain, "release": release, "max_change": max_change, "why": why}
    _operate("switch", form, approve=yes, wait=not no_wait, as_json=as_json, sequel=f"penstock revert {domain}")


def revert(domain: Domain, why: Why, no_wait: NoWait = False, as_json: Json = False) -> None:
    """Go back to the release that was current before; it kept up meanwhile."""
    _known(domain)
    form = {"domain": domain, "release": PREVIOUS, "why": why}
    _operate("switch", form, approve=False, wait=not no_wait, as_json=as_json, sequel=f"penstock revert {domain}")


def drop(
    domain: Domain, release: Name, why: Why, yes: Yes = False, no_wait: NoWait = False, as_json: Json = False
) -> None:
    """Delete the tables of a release that nobody reads, for good."""
    _known(domain)
    form = {"domain": domain, "release": release, "why": why}
    _operate("drop_release", form, approve=yes, wait=not no_wait, as_json=as_json, sequel="penstock releases list")


def listed(as_json: Json = False) -> None:
    """Show every release: its state, its code, who made it and why, and until when one may go back to it.

    A star is what people read.
    """
    settings = Settings.from_env()
    rows = [
        {
            **row.as_dict(),
            "current": name == told.current,
            "until": told.until(name, settings.revert_days),
            "progress": _progress(settings, domain, name),
        }
        for domain in domains()
        for told in [registry(Layout(settings.lake), domain)]
        for name, row in told.releases.items()
    ]
    if as_json:
        cli.say({"releases": rows})
        return
    table = Table("domain", "release", "state", "code", "by", "why", box=None, pad_edge=False)
    for row in rows:
        name = f"{row['about']}{'*' if row['current'] else ''}"
        code = f"{row['code'] or 'what is deployed'}{', of ' + row['view'] + ' alone' if row['view'] else ''}"
        table.add_row(row["domain"], name, _state(row), code, row["who"], row["why"])
    Console().print(table)


def _state(row: dict[str, Any]) -> str:
    if row["state"] in UNFINISHED:
        return f"{row['state']}: {row['progress']}"
    return f"{row['state']}, kept up until {row['until']:%Y-%m-%d %H:%M} UTC" if row["until"] else str(row["state"])


def _how_far(settings: Settings, domain: str) -> str:
    """Of the release that is being built, if any is."""
    releases = registry(Layout(settings.lake), domain).releases
    return "".join(_progress(settings, domain, name) for name, row in releases.items() if row.state in UNFINISHED)


def _progress(settings: Settings, domain: str, release: str) -> str:
    told = said(settings.home, domain, release)
    return told.text if told else ""


def _known(domain: str) -> None:
    if domain not in domains():
        raise Refusal(f"There is no domain {domain!r}. Choose one of: {', '.join(domains())}.")


def _operate(dag: str, form: dict[str, Any], *, approve: bool, wait: bool, as_json: bool, sequel: str) -> None:
    screen = Console(stderr=as_json)
    settings = Settings.from_env()
    far = partial(_how_far, settings, form["domain"])
    told = operate(settings, dag, form, approve=approve, wait=wait, tell=screen.print, progress=far)
    if as_json:
        cli.say(told)
    else:
        screen.print(f"{dag}: {told['state']}. Next: {sequel}")
