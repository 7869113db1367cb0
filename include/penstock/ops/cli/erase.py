"""`penstock erase` and `penstock erasures`: subjects that nobody may know of any more, and what was done about them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from penstock.ops import cli
from penstock.ops.cli.operating import Json, NoWait, Yes, operated, planned
from penstock.refusal import Refusal
from penstock.settings import Settings

Domain = Annotated[str, typer.Option(help="Where they are named, such as web.")]


def register(app: typer.Typer) -> None:
    app.command()(erase)
    app.command()(erasures)


def erase(
    domain: Domain,
    why: Annotated[str, typer.Option(help="For the audit: who asked for it, without a name.")],
    subjects: Annotated[list[str] | None, typer.Argument(help="Their ids, as events name them.")] = None,
    file: Annotated[str, typer.Option(help="A file with an id a line; - is standard input.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go, and their tokens.")] = False,
    yes: Yes = False,
    no_wait: NoWait = False,
    as_json: Json = False,
) -> None:
    """Erase subjects for good, by the DAG `erase`, which is given their tokens and never a name. Cannot be undone."""
    from penstock.engine.naming import CannotErase
    from penstock.engine.theirs import asked, text

    settings = Settings.from_env()
    tokens = tokens_of(settings, domain, [*(subjects or ()), *_lines(file)])
    try:
        told = text(settings, asked(domain, tokens))
    except CannotErase as refusal:
        raise Refusal(str(refusal)) from refusal
    if dry_run:
        planned(told if as_json else f"{told}\n\nTokens: `{tokens}`", as_json, tokens=tokens.split())
        return
    form = {"domain": domain, "subjects": tokens, "why": why}
    operated("erase", form, f"{len(tokens.split())} subjects", yes=yes, no_wait=no_wait, as_json=as_json)


def _lines(file: str) -> list[str]:
    if not file:
        return []
    text = sys.stdin.read() if file == "-" else Path(file).read_text()
    return [line.strip() for line in text.splitlines() if line.strip()]


def tokens_of(settings: Settings, domain: str, names: list[str]) -> str:
    """What stands for them on records. Names stay in this process."""
    from penstock.keys.store import Keys

    if not names:
        raise Refusal("Whom? Give their ids, or a file with an id a line.")
    found = Keys.of_home(settings.home).tokens(domain, names)
    if unknown := [name for name in names if name not in found]:
        raise Refusal(
            f"No record that came through a collector of this home names {len(unknown)} of {len(names)} subjects: "
            f"{', '.join(unknown[:5])}. Nothing was erased. They may be erased already, or spelled otherwise."
        )
    return " ".join(sorted(token.hex() for token in found.values()))


def erasures(domain: Domain, as_json: Json = False) -> None:
    """What was erased of a domain: when, how many subjects and records, and why."""
    from penstock.lake.erasures import since
    from penstock.lake.layout import Layout
    from penstock.lake.rewinds import BEGINNING
    from penstock.model.domain import domains

    if domain not in domains():
        raise Refusal(f"There is no domain {domain!r}; there are: {', '.join(domains())}.")
    said = since(Layout(Settings.from_env().lake), domain, BEGINNING)
    if as_json:
        cli.say([each.__dict__ for each in said])
        return
    cli.listed(
        f"{each.at:%Y-%m-%d %H:%M}  {each.source}  {each.subjects:,} subjects, {each.records:,} records"
        for each in said
    )
