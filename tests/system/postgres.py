"""A PostgreSQL server of a test's own, from the binaries of this machine."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from standing import eventually

from penstock.ops.stack.health import tcp
from penstock.ops.stack.trial import free_port


def binaries() -> Path | None:
    """The folder of PostgreSQL's own programs; Debian keeps them off the PATH."""
    found = shutil.which("postgres")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((place for place in reversed(places) if (place / "initdb").is_file()), None)


@dataclass
class Server:
    """One that can be killed, and started again on what it left."""

    programs: Path
    folder: Path
    port: int
    password: str
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        """For SQLAlchemy."""
        return f"postgresql+psycopg2://airflow:{self.password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"]
        command = [self.programs / "postgres", "-D", self.folder / "data", "-p", str(self.port), *settings]
        self.process = run(command, self.folder)
        assert eventually(lambda: tcp(self.port)(0), 60), (self.folder / "said").read_text()

    def kill(self) -> None:
        """All of its processes at once, in the middle of whatever they do."""
        assert self.process is not None
        main = psutil.Process(self.process.pid)
        for each in (main, *main.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()


@contextmanager
def server(programs: Path) -> Iterator[Server]:
    """With a password, while it runs."""
    password = secrets.token_urlsafe(12)
    # Not below pytest's own folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        data, secret = Path(name, "data"), Path(name, "password")
        secret.write_text(password)
        os.chown(name, *owner())
        os.chown(secret, *owner())
        made = [programs / "initdb", "--pgdata", data, "--username=airflow", "--auth=scram-sha-256"]
        run([*made, "--no-sync", "--encoding=UTF8", f"--pwfile={secret}"], Path(name)).wait()
        running = Server(programs, Path(name), free_port(), password)
        try:
            running.start()
            yield running
        finally:
            running.stop()


def run(command: Sequence[object], folder: Path) -> "subprocess.Popen[bytes]":
    user, group = owner()
    with (folder / "said").open("ab") as said:
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
