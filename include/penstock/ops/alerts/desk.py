"""The desk remembers what is broken, so that people hear of it once.

An alert is open from its first member's failure (a run, a stream, a table) until its last member is well. It is told
when it opens, when it gets worse, every hour while it lasts, and when it closes. State is one small file an alert
under the home; a lock makes two tasks that fail at once tell one message.
"""

import fcntl
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

SEVERITIES = ("info", "warning", "critical")
# While something stays broken, people hear of it again after this long.
REMIND_SECONDS = 3600.0


@dataclass(frozen=True)
class Alert:
    """`key` is what broke, `member` which run of it; `text` says what happened, what is safe and what to do."""

    key: str
    severity: str
    title: str
    text: str
    member: str = ""
    links: tuple[tuple[str, str], ...] = ()

    def body(self) -> str:
        return "\n".join([self.text, *(f"{name}: {address}" for name, address in self.links)])


@dataclass(frozen=True)
class Open:
    """An alert that is open. `told` is empty while no receiver has taken it: then the next failure tries again."""

    severity: str
    title: str
    since: float
    told: float | None = None
    times: int = 0
    members: tuple[str, ...] = field(default=())


# Sends title and body to those who want this severity; false when nobody took it.
Send = Callable[[str, str, str], bool]


class Desk:
    """`folder` holds the open alerts; `now` is a clock."""

    def __init__(self, folder: Path, send: Send, now: Callable[[], float]) -> None:
        self._folder, self._send, self._now = folder, send, now

    def broken(self, alert: Alert) -> bool:
        """Opens the alert or adds to it. True when people were told just now."""
        with self._locked():
            before = self._read(alert.key)
            after = self._joined(before, alert)
            due = before is None or worse(after, before) or self._waited(before)
            told = due and self._send(
                alert.severity, told_title(alert.severity, alert.title, after.times), alert.body()
            )
            self._write(alert.key, replace(after, told=self._now() if told else after.told))
            return told

    def well(self, key: str, member: str = "") -> bool:
        """A member is well; when it was the last, the alert closes and people hear of it."""
        if not self._file(key).exists():
            return False
        with self._locked():
            before = self._read(key)
            if before is None:
                return False
            left = tuple(each for each in before.members if each != member)
            if left:
                self._write(key, replace(before, members=left))
                return False
            self._file(key).unlink()
            minutes = (self._now() - before.since) / 60
            return before.told is not None and self._send(
                before.severity, f"[recovered] {before.title}", f"Well again after {minutes:.0f} min."
            )

    def open(self) -> dict[str, Open]:
        """What is broken now, by file name."""
        return {file.stem: _opened(file) for file in sorted(self._folder.glob("*.json"))}

    def _joined(self, before: Open | None, alert: Alert) -> Open:
        if before is None:
            return Open(alert.severity, alert.title, self._now(), None, 1, (alert.member,))
        members = tuple(dict.fromkeys((*before.members, alert.member)))
        severity = max(before.severity, alert.severity, key=SEVERITIES.index)
        return replace(before, severity=severity, times=before.times + 1, members=members)

    def _waited(self, before: Open) -> bool:
        return before.told is None or self._now() - before.told >= REMIND_SECONDS

    def _file(self, key: str) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', key)}.json"

    def _read(self, key: str) -> Open | None:
        file = self._file(key)
        return _opened(file) if file.exists() else None

    def _write(self, key: str, state: Open) -> None:
        new = self._file(key).with_suffix(".new")
        new.write_text(json.dumps(asdict(state)))
        new.replace(self._file(key))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _opened(file: Path) -> Open:
    told = json.loads(file.read_text())
    return Open(**{**told, "members": tuple(told["members"])})


def worse(after: Open, before: Open) -> bool:
    return SEVERITIES.index(after.severity) > SEVERITIES.index(before.severity)


def told_title(severity: str, title: str, times: int) -> str:
    return f"[{severity}] {title}" + (f" ({times} times)" if times > 1 else "")
