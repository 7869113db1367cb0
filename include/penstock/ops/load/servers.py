"""Starts a server on the first core and measures it from the others."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

HERE = Path(__file__).parent
# A collector answers when the log has, some milliseconds later: few connections all wait, and leave most of a core.
FEW, MANY = 32, 256
OURS, THEIRS = {0}, set(range(1, os.cpu_count() or 1)) or {0}


@dataclass(frozen=True)
class Measured:
    """Requests answered, and the processor seconds of the server: what a core could do, on however busy a machine."""

    requests: int
    bad: int
    seconds: float
    cpu: float
    p99: float

    @property
    def per_core(self) -> float:
        return self.requests / self.cpu


@contextmanager
def server(command: Sequence[str], port: int, environment: dict[str, str] | None = None) -> Iterator[psutil.Process]:
    """A server on the first core, from when it listens until the block is left."""
    process = subprocess.Popen(
        command, env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        os.sched_setaffinity(process.pid, OURS)
        _listening(port)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _listening(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


def measure(
    server: psutil.Process, port: int, body: bytes, seconds: float, rate: float = 0, connections: int = FEW
) -> Measured:
    """Load from another core for so long. wrk where it is installed: it takes less of the machine than Python."""
    before, begun = server.cpu_times(), time.perf_counter()
    if shutil.which("wrk") and not rate:
        told = _wrk(port, body, seconds, connections)
    else:
        told = _python(port, body, seconds, connections, rate)
    after = server.cpu_times()
    cpu = after.user + after.system - before.user - before.system
    return Measured(int(told["answers"]), int(told["bad"]), time.perf_counter() - begun, cpu, told["p99"])


def _python(port: int, body: bytes, seconds: float, connections: int, rate: float) -> dict[str, float]:
    command = [sys.executable, str(HERE / "client.py"), str(port), str(seconds), str(connections), str(rate)]
    done = subprocess.run(command, input=body, capture_output=True, check=True, preexec_fn=_on_theirs)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _wrk(port: int, body: bytes, seconds: float, connections: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "post.lua")
        Path(folder, "body").write_bytes(body)
        script.write_text(
            f'wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\n'
            f'wrk.body = io.open("{folder}/body", "rb"):read("*a")\n'
            "function done(summary, latency)\n"
            "  local bad = summary.errors.status + summary.errors.read + summary.errors.timeout\n"
            '  io.write(string.format("\\n@%d %d %f\\n", summary.requests, bad, latency:percentile(99) / 1000))\nend\n'
        )
        address = f"http://127.0.0.1:{port}/v1/web.events"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "-s", str(script), address]
        said = subprocess.run(command, capture_output=True, check=True, text=True, preexec_fn=_on_theirs).stdout
    answers, bad, p99 = said.rpartition("@")[2].split()
    return {"answers": float(answers), "bad": float(bad), "p99": float(p99)}


def _on_theirs() -> None:
    os.sched_setaffinity(0, THEIRS)


@contextmanager
def go_peer(port: int) -> Iterator[list[str] | None]:
    """The command of the Go peer, built here; None where there is no Go."""
    if shutil.which("go") is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "parse_only")
        subprocess.run(["go", "build", "-o", str(program), str(HERE / "parse_only.go")], check=True)
        yield [str(program), str(port)]
