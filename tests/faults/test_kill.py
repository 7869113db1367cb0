"""kill -9 is a normal way to stop the streaming driver."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from faults.killing import play, verdict

from penstock.log.broker import Broker
from penstock.settings import Settings


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def own_log(tmp_path: Path) -> Iterator[str]:
    """A broker on which nobody else uses `web.events`."""
    node = Broker(tmp_path / "broker", free_port(), free_port())
    node.prepare()
    process = subprocess.Popen(node.command(), stdout=subprocess.DEVNULL)
    address = f"127.0.0.1:{node.port}"
    AdminClient({"bootstrap.servers": address, "log_level": 0}).list_topics(timeout=60)
    yield address
    process.kill()
    process.wait()


@pytest.mark.parametrize("seed", [41])
def test_every_row_is_right_after_the_driver_was_killed(tmp_path: Path, own_log: str, seed: int) -> None:
    settings = Settings(home=tmp_path / "home", lake=str(tmp_path / "home" / "lake"), kafka=own_log)
    settings.home.mkdir()
    assert verdict(play(settings, seed, kills=3)) == []
