"""Refuses to start on a port that somebody else listens on, and says which setting moves ours."""

import socket

import psutil

from penstock.ops.stack.parts import Part
from penstock.refusal import Refusal


def taken(rows: list[Part]) -> list[str]:
    """One sentence for each port that cannot be had."""
    return [
        f"Port {port} of the {part.name} is taken{holder(port)}. Stop that, or set {setting}."
        for part in rows
        for port, setting in part.ports
        if not free(port)
    ]


def check(rows: list[Part]) -> None:
    if told := taken(rows):
        raise Refusal(" ".join(told))


def free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a connection that is just closing does not keep a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def holder(port: int) -> str:
    """Who listens there, as far as this user may know."""
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,)
            if listens and connection.pid:
                return f" by process {connection.pid} ({psutil.Process(connection.pid).name()})"
    except (psutil.Error, OSError):
        return ""
    return ""
