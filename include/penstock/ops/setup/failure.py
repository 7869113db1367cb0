"""Turns what a failed tool printed into one sentence of what is wrong and what to do."""

import subprocess
from collections.abc import Mapping
from pathlib import Path


class SetupFailure(Exception):
    """Set-up cannot go on. What is done so far stays; running it again continues."""


# The first row of which a marker is in the output tells the cause; order matters, as a full disk also breaks downloads.
CAUSES: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("No space left on device", "os error 28"),
        "the disk is full. Free about 3 GB and run `make setup` again.",
    ),
    (
        ("Read-only file system", "Permission denied", "Operation not permitted", "os error 13", "os error 30"),
        "a folder cannot be written. Own the project's folder, or clone it where you can write, "
        "and run `make setup` again.",
    ),
    (
        ("Hash mismatch", "DO NOT MATCH THE HASHES", "hash mismatch"),
        "a package does not have the bytes that requirements.lock pins. Nothing was installed from it. "
        "Run `.venv/bin/uv cache clean` and `make setup` again; if it repeats, do not trust the source.",
    ),
    (
        ("dns error", "error sending request", "Failed to fetch", "NewConnectionError", "UnknownHost", "timed out",
         "ConnectException", "Connection refused", "Network is unreachable", "Server access", "UNRESOLVED"),
        "a download failed. Check the network (or the proxy settings) and run `make setup` again.",
    ),
    (
        ("ensurepip is not", "No module named venv", "No module named ensurepip"),
        "this Python has no venv module. Install it (Debian, Ubuntu: apt-get install python3-venv) "
        "and run `make setup` again.",
    ),
)  # fmt: skip


def cause(output: str) -> str:
    """The known cause that this output shows, else its last lines."""
    for markers, sentence in CAUSES:
        if any(marker in output for marker in markers):
            return sentence
    tail = " / ".join(line.strip() for line in output.strip().splitlines()[-4:])
    return f"it said: {tail or 'nothing'}. Mend that and run `make setup` again."


def run(step: str, command: list[str], cwd: Path, environ: Mapping[str, str] | None = None) -> str:
    """Runs one tool to its end. Failure is a sentence that starts with the step's name."""
    try:
        done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SetupFailure(f"{step}: {cause(str(error))}") from error
    if done.returncode:
        raise SetupFailure(f"{step}: {cause(done.stdout + done.stderr)}")
    return done.stdout + done.stderr
