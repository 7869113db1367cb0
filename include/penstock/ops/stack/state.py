"""What each part of a running stack is doing, asked of supervisord, of the part itself, and of the kernel."""

import json
import xmlrpc.client
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from supervisor.xmlrpc import SupervisorTransport

from penstock.ops.stack.home import Home
from penstock.ops.stack.parts import Part


@dataclass(frozen=True)
class State:
    """One line of the status. `state`: well, starting, restarting or stopped; memory is PSS, children included."""

    part: str
    state: str
    pid: int
    ports: tuple[int, ...]
    memory: int
    address: str
    note: str

    @property
    def well(self) -> bool:
        return self.state == "well"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def states(home: Home, rows: list[Part]) -> list[State]:
    """The state of every part; all stopped when no supervisor answers."""
    told = _supervisor(home)
    return [_state(part, told.get(part.name, {})) for part in rows]


def _state(part: Part, told: dict[str, Any]) -> State:
    pid = int(told.get("pid", 0))
    running = told.get("statename") == "RUNNING"
    if running and part.well(float(told["start"])):
        state = "well"
    elif told.get("statename") in ("STARTING", "RUNNING"):
        state = "starting"
    else:
        state = "restarting" if told.get("statename") in ("BACKOFF", "EXITED") else "stopped"
    ports = tuple(port for port, _ in part.ports)
    return State(
        part.name, state, pid, ports, memory(pid), part.address, "" if pid else str(told.get("description", ""))
    )


def memory(pid: int) -> int:
    """Proportional set size of a process and all below it: shared pages are counted once over all who share them."""
    if not pid:
        return 0
    try:
        process = psutil.Process(pid)
        return sum(_pss(each) for each in [process, *process.children(recursive=True)])
    except psutil.NoSuchProcess:
        return 0


def _pss(process: psutil.Process) -> int:
    try:
        whole = process.memory_full_info()
        return int(getattr(whole, "pss", whole.rss))
    except psutil.Error:
        return 0


def _supervisor(home: Home) -> dict[str, dict[str, Any]]:
    transport = SupervisorTransport(None, None, f"unix://{home.socket}")
    proxy = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
    try:
        rows: Any = proxy.supervisor.getAllProcessInfo()
        return {row["name"]: row for row in rows}
    except (OSError, xmlrpc.client.Error):
        return {}
    finally:
        transport.close()


def streams(home: Home) -> list[dict[str, Any]]:
    """What each stream last said, as its driver wrote it."""
    files = sorted((home.run / "streams").glob("*.json"))
    return [{"stream": path.stem, **_document(path)} for path in files]


def _document(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document
