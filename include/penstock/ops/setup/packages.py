"""The venv, the pinned uv inside it, and every Python package by its hash."""

import os
import sys
from pathlib import Path

from penstock.ops.setup.failure import SetupFailure, run


def requirement(lock: str, name: str) -> str:
    """The lines of one package in a lock: its version and its hashes."""
    lines = iter(lock.splitlines())
    for line in lines:
        if line.startswith(f"{name}=="):
            taken = [line]
            while taken[-1].endswith("\\"):
                taken.append(next(lines))
            return "\n".join(taken) + "\n"
    raise SetupFailure(f"requirements.lock does not pin {name}. Restore the file from git and run `make setup` again.")


def make_venv(root: Path, *, afresh: bool) -> None:
    """`afresh` when the folder was moved: the scripts of a venv hold its path."""
    step = "Python environment"
    clear = ["--clear"] if afresh else []
    # The base Python, so that a run inside some other venv does not chain to it.
    run(step, [getattr(sys, "_base_executable", sys.executable), "-m", "venv", *clear, ".venv"], root)
    pin = root / ".venv" / "uv.lock"
    pin.write_text(requirement((root / "requirements.lock").read_text(), "uv"))
    python = str(root / ".venv" / "bin" / "python")
    run(step, [python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(pin)], root)


def install(root: Path) -> None:
    """Exactly the lock, then the project itself as one path."""
    environ = {**os.environ, "VIRTUAL_ENV": str(root / ".venv")}
    uv = [str(root / ".venv" / "bin" / "uv"), "pip"]
    run("Python packages", [*uv, "sync", "--compile-bytecode", "--require-hashes", "requirements.lock"], root, environ)
    run("the project", [*uv, "install", "--no-deps", "--no-build-isolation", "-e", "."], root, environ)
