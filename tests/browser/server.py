"""Serves a lake to a browser: the real app on a port of its own, and Chromium as every test starts it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which

import uvicorn
from browser.lake import Lake
from playwright.sync_api import Browser, sync_playwright

from penstock.serve.access.identity import Access
from penstock.serve.app import create_app

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
# Without these, Chromium asks hosts of its own at every start.
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


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


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium. Where there is none, the error says how to get it."""
    if not CHROMIUM:
        raise FileNotFoundError("there is no Chromium: nothing was tried in a browser. apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()
