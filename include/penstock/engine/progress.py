"""What a stream says of itself: one small file a job, replaced atomically, that anyone may read."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.lake.layout import FIRST_RELEASE
from penstock.model.group import REST

FOLDER = Path("run", "streams")


@dataclass
class Progress:
    """The state is starting, running, failed or stopped; `sentence` says why, `todo` what to do about it."""

    job: str
    release: str | None
    state: str = "starting"
    sentence: str = ""
    todo: str = ""
    # Who runs it: a stream group, or a release's own driver. It is the name of a DAG.
    group: str = REST
    query: str = ""
    epoch: int = -1
    epochs: int = 0
    offsets: Mapping[str, int] = field(default_factory=dict)
    lag_records: int | None = None
    lag_seconds: float | None = None
    # Whether nothing is on its way: a stream that is level may have taken records that no reader has yet.
    rests: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    rows: int = 0
    rows_total: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    pid: int = field(default_factory=os.getpid)
    at: str = ""

    def write(self, home: Path) -> None:
        """Replaces the job's file; readers see the old one or the new one."""
        self.at = datetime.now(UTC).isoformat(timespec="milliseconds")
        folder = home / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f"{self.name}.json.{self.pid}"
        new.write_text(json.dumps(asdict(self)))
        new.replace(folder / f"{self.name}.json")

    def level_at(self, home: Path) -> float | None:
        """Up to when readers had everything, as whoever ran the job before said."""
        try:
            said = json.loads((home / FOLDER / f"{self.name}.json").read_text())
            return datetime.fromisoformat(said["at"]).timestamp() - float(said["lag_seconds"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def forget(self, home: Path) -> None:
        """For a stream that nobody wants any more: silence is then no fault."""
        (home / FOLDER / f"{self.name}.json").unlink(missing_ok=True)

    @property
    def name(self) -> str:
        """Releases of one source say it beside each other."""
        return self.job if self.release in (None, FIRST_RELEASE) else f"{self.job}-{self.release}"


def read(home: Path) -> list[dict[str, Any]]:
    """What every stream last said, by the job's name."""
    return [json.loads(file.read_text()) for file in sorted((home / FOLDER).glob("*.json"))]
