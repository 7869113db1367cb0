"""Serves a lake to a browser: the real app on a port of its own."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from browser.lake import Lake

from penstock.serve.access.identity import Access
from penstock.serve.app import create_app


@contextmanager
def served(lake: Lake, port: int = 0) -> Iterator[str]:
    """The address at which a lake is served, until the block ends."""
    listener = socket.create_server(("127.0.0.1", port))
    server = uvicorn.Server(
        uvicorn.Config(create_app(lake, Access(lake.home)), log_level="critical", proxy_headers=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = server.force_exit = True
    thread.join(10)
    listener.close()
