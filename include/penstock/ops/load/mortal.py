"""A broker and a collector that can be killed and come back at the same address, with what they have on disk."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from confluent_kafka.admin import AdminClient

from penstock.log.broker import Broker
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

PATIENCE = 120.0
COLLECTOR = (sys.executable, "-m", "penstock.collect")


class MortalBroker:
    """One node in a folder of its own; `start` returns at once, `ready` when it answers."""

    def __init__(self, folder: Path, *, quick: bool = True) -> None:
        port = free_port(following=1)
        self._node, self.address = Broker(folder, port, port + 1, quick=quick), f"127.0.0.1:{port}"
        self._node.prepare()
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._node.command(), stdout=subprocess.DEVNULL)

    def ready(self) -> "MortalBroker":
        AdminClient({"bootstrap.servers": self.address, "log_level": 0}).list_topics(timeout=PATIENCE)
        return self

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@dataclass
class MortalCollector:
    """A collector of a home, as the stack starts it; `argv` may name one with a bug planted in it."""

    settings: Settings
    argv: Sequence[str] = COLLECTOR
    process: "subprocess.Popen[bytes] | None" = field(default=None, init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.collector_port}"

    @property
    def running(self) -> "subprocess.Popen[bytes]":
        if self.process is None:
            raise RuntimeError("the collector was not started")
        return self.process

    def start(self) -> "MortalCollector":
        environment = {**os.environ, **self.settings.to_env()}
        self.process = subprocess.Popen(self.argv, env=environment, stderr=subprocess.DEVNULL)
        return self

    def ready(self) -> "MortalCollector":
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                httpx.get(self.url + "/healthz", timeout=10)
                return self
            except httpx.TransportError:
                time.sleep(0.05)
        raise TimeoutError("the collector did not start")

    def drained(self) -> None:
        """Waits until the log has everything that the spool held."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if httpx.get(self.url + "/readyz", timeout=30).json()["log"] == "direct":
                return
            time.sleep(0.1)
        raise TimeoutError("the spool was not drained")

    def kill(self) -> None:
        self.running.kill()
        self.running.wait()

    def again(self) -> None:
        """Killed, and another begun in its place."""
        self.kill()
        self.start()

    def stop(self) -> int:
        self.running.terminate()
        return self.running.wait(30)
