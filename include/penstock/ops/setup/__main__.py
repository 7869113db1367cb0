"""`make setup`: everything the project needs, inside its own folder. Done once, it takes no time again."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from penstock.ops.setup import jars, java, log_store, packages
from penstock.ops.setup.failure import SetupFailure, cause

ROOT = Path(__file__).parents[4]
VENV = ROOT / ".venv"
STAMP = VENV / ".set-up"
# What the venv and the jars take.
ROOM = 3 * 2**30


def wanted() -> str:
    """What the set-up depends on, as one line: where it is, and the bytes of every file that steers it."""
    steering = [ROOT / "requirements.lock", ROOT / "pyproject.toml", *sorted(log_store.JAVA.rglob("*.java"))]
    steering += [jars.PINS, jars.HERE / "ivy.xml"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in steering)).hexdigest()
    return f"{digest} {ROOT}\n"


def done() -> str:
    return STAMP.read_text() if STAMP.is_file() else ""


def set_up() -> None:
    """Each step can be repeated; the stamp comes last, so an interrupted set-up is simply run again."""
    if done() == wanted():
        return
    java.check()
    room()
    begun = time.monotonic()
    moved = str(ROOT) not in done() if STAMP.is_file() else False
    STAMP.unlink(missing_ok=True)
    tell("Python environment")
    packages.make_venv(ROOT, afresh=moved)
    tell("Python packages, about 220 (the first time on a machine takes a minute or two)")
    packages.install(ROOT)
    # The one keeps a core busy and so does the other.
    with ThreadPoolExecutor(1) as beside:
        compiled = beside.submit(packages.compile_all, ROOT)
        tell("jars of Spark and Kafka")
        jars.fetch(VENV)
        tell("log store")
        log_store.build(VENV)
        tell("class archives, from which Spark jobs and the broker start sooner")
        broker = beside.submit(warm_up, "penstock.ops.stack.warmup")
        warm_up("penstock.lake.warmup")
        compiled.result()
        broker.result()
    STAMP.write_text(wanted())
    tell(f"done in {time.monotonic() - begun:.0f} s")


def warm_up(module: str) -> None:
    """Without it everything works, only later: a failure is no reason to stop."""
    python = VENV / "bin" / "python"
    ran = subprocess.run([python, "-m", module], cwd=VENV, capture_output=True, text=True, check=False)
    if ran.returncode:
        (VENV / f"{module}.log").write_text(ran.stdout + ran.stderr)
        tell(f"no class archive (.venv/{module}.log says why); what it is for will start more slowly")


def room() -> None:
    """Asked first, as the tools below hide a full disk behind errors of their own."""
    free = shutil.disk_usage(ROOT).free
    if free < ROOM and not VENV.is_dir():
        raise SetupFailure(
            f"{free // 2**20} MB are free and about 3 GB are needed. Free space and run `make setup` again."
        )


def tell(line: str) -> None:
    sys.stdout.write(f"set-up: {line}\n")
    sys.stdout.flush()


def main() -> int:
    # Two terminals may both say `make test`: the second waits for the first. The folder itself is the lock.
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        set_up()
    except (SetupFailure, OSError) as failure:
        why = str(failure) if isinstance(failure, SetupFailure) else cause(str(failure))
        sys.stderr.write(f"set-up: {why}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
