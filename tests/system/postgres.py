"""A PostgreSQL server of a test's own, from the binaries of this machine."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.ops.stack.health import tcp
from penstock.ops.stack.trial import free_port

from .conftest import eventually


def binaries() -> Path | None:
    """The folder of PostgreSQL's own programs; Debian keeps them off the PATH."""
    found = shutil.which("postgres")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((place for place in reversed(places) if (place / "initdb").is_file()), None)


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """Its SQLAlchemy address, with a password, while it runs."""
    port, password = free_port(), secrets.token_urlsafe(12)
    # Not below pytest's own folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        data, secret = Path(name, "data"), Path(name, "password")
        secret.write_text(password)
        os.chown(name, *owner())
        os.chown(secret, *owner())
        made = [programs / "initdb", "--pgdata", data, "--username=airflow", "--auth=scram-sha-256"]
        run([*made, "--no-sync", "--encoding=UTF8", f"--pwfile={secret}"], name).wait()
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"]
        process = run([programs / "postgres", "-D", data, "-p", str(port), *settings], name)
        try:
            assert eventually(lambda: tcp(port)(0), 60), Path(name, "said").read_text()
            yield f"postgresql+psycopg2://airflow:{password}@127.0.0.1:{port}/postgres"
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait()


def run(command: list[object], folder: str) -> "subprocess.Popen[bytes]":
    user, group = owner()
    with Path(folder, "said").open("ab") as said:
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=folder, stdout=said, stderr=said, user=user, group=group, extra_groups=[] if os.getuid() == 0 else None,
        )  # fmt: skip


def owner() -> tuple[int, int]:
    """PostgreSQL refuses to be root; then it is the user that may do nothing else."""
    if os.getuid():
        return os.getuid(), os.getgid()
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid
