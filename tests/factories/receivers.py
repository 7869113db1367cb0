"""Receivers that a test can read: one HTTP hook and one mail server on free ports of this machine."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@contextmanager
def http_hook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address as Apprise writes it, and what arrived."""
    heard: list[dict[str, Any]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            """Silent."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hook)) as port:
        yield f"json://127.0.0.1:{port}/", heard


@contextmanager
def on_call(home: Path, severities: str = "critical") -> Iterator[list[dict[str, Any]]]:
    """What reaches the people who are on call for the stack of this home."""
    with http_hook() as (address, heard):
        (home / "alerts.conf").write_text(f"{severities}={address}\n")
        yield heard
        (home / "alerts.conf").unlink()


@contextmanager
def mail_server() -> Iterator[tuple[str, list[str]]]:
    """A mail server that accepts everything."""
    heard: list[str] = []

    class Mail(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 test")
            while line := self.rfile.readline().decode().strip():
                word = line.split()[0].upper()
                if word == "DATA":
                    self.say("354 go on")
                    heard.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                self.say("221 bye" if word == "QUIT" else "250 test")

        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail)) as port:
        yield f"mailto://127.0.0.1:{port}/?from=penstock@example.org&to=oncall@example.org&mode=insecure", heard


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    # It is asked so often whether it should end.
    threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
