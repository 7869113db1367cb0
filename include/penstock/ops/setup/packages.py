"""The venv, the pinned uv inside it, and every Python package by its hash."""

import os
import subprocess
import sys
from pathlib import Path

from penstock.ops.setup.failure import SetupFailure, run

# Tests of others, and tools that read code and are no part of a running stack: half of all bytes.
NEVER_IMPORTED = r"/(tests?|mypy|mypyc|pip|playwright|libcst|setuptools|pkg_resources|hypothesis|cyclonedx)/"


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
    run("Python packages", [*uv, "sync", "--require-hashes", "requirements.lock"], root, environ)
    run("the project", [*uv, "install", "--no-deps", "--no-build-isolation", "-e", "."], root, environ)


def compile_all(root: Path) -> None:
    """Byte code for what a stack imports: where nobody may write it, every process would compile it each time."""
    packages = next((root / ".venv" / "lib").glob("python3.*/site-packages"))
    python = str(root / ".venv" / "bin" / "python")
    command = [python, "-m", "compileall", "-q", "-j", "0", "-x", NEVER_IMPORTED, str(packages)]
    # A file that is no Python of this version (a template, say) is told of and harms nothing.
    subprocess.run(command, capture_output=True, check=False)
