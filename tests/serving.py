"""A real broker for as long as a test, or a run, needs it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient

from penstock.log.broker import Broker
from penstock.ops.stack.trial import free_port


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Its address, once it answers."""
    port = free_port(following=1)
    node = Broker(folder, port, port + 1)
    node.prepare()
    process = subprocess.Popen(node.command(), stdout=subprocess.DEVNULL)
    try:
        AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0}).list_topics(timeout=60)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
