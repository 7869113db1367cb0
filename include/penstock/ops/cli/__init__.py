"""The command line. Every module in this folder with a function `register(app)` adds its commands.

Exit status, the same everywhere (docs/cli.md): 0 done, 1 what was asked about is not well,
2 wrong usage, 3 refused and nothing changed, 4 the stack is not running.
"""

import json
import pkgutil
import sys
from collections.abc import Iterable
from importlib import import_module

import typer

from penstock.refusal import Refusal
from penstock.settings import SettingError

UNWELL, REFUSED, NOT_RUNNING = 1, 3, 4


def application(asked: str = "") -> typer.Typer:
    """Penstock's commands, found in this folder's modules; only one, where a module has its name.

    To import what all of them need takes two seconds on a small machine.
    """
    app = typer.Typer(
        name="penstock",
        help="A streaming lakehouse that can be rewound.",
        no_args_is_help=True,
        add_completion=False,
        # A trace with local values could show a password.
        pretty_exceptions_enable=False,
    )
    # A callback keeps commands commands, even while there is but one.
    app.callback()(lambda: None)
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    for module in [asked] if asked in modules else modules:
        commands = import_module(f"{__name__}.{module}")
        if hasattr(commands, "register"):
            commands.register(app)
    return app


def main() -> None:
    try:
        application(*sys.argv[1:2])()
    except (Refusal, SettingError) as refusal:
        complain(str(refusal))
        sys.exit(REFUSED)


def say(document: object) -> None:
    """Prints one JSON document: what `--json` promises, on standard output and nothing else there."""
    sys.stdout.write(json.dumps(document, default=str) + "\n")


def listed(lines: Iterable[str]) -> None:
    """A line each; or that there is none, so that nobody waits for more."""
    for line in [*lines] or ["none"]:
        typer.echo(line)


def complain(message: str) -> None:
    """An error, as JSON where the caller asked for JSON, always on standard error."""
    text = json.dumps({"error": message}) if "--json" in sys.argv else f"penstock: {message}"
    sys.stderr.write(text + "\n")
