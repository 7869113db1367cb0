"""How far a replay is, as it says itself in one small file that anyone may read without a JVM."""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path("run", "replays")
SILVER, VIEWS, DONE = "silver", "views", "ready"


@dataclass
class Progress:
    """`total` is of all sources together; each of `sources` says how many of its records are `done`."""

    domain: str
    release: str
    total: int
    stage: str = SILVER
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    begun: float = field(default_factory=time.time)
    seconds: float = 0.0

    def say(self, stage: str, home: Path) -> None:
        self.stage = stage
        self.seconds = round(time.time() - self.begun, 1)
        folder = home / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".{self.domain}-{self.release}"
        new.write_text(json.dumps(asdict(self)))
        new.replace(folder / f"{self.domain}-{self.release}.json")

    @property
    def done(self) -> int:
        return sum(int(each["done"]) for each in self.sources.values())

    @property
    def share(self) -> float | None:
        """Of the records; None where nobody can say how much is left, as of views."""
        return min(1.0, self.done / max(self.total, 1)) if self.stage == SILVER else None

    @property
    def text(self) -> str:
        """A sentence for people."""
        if self.stage == SILVER:
            return f"{self.done:,} of {self.total:,} records are shaped"
        if self.stage == VIEWS:
            return f"all {self.done:,} records are shaped, their views are being built"
        return f"{self.done:,} records are shaped, their views are built"


def said(home: Path, domain: str, release: str) -> Progress | None:
    """What the replay of a release said last; None where it has said nothing yet."""
    try:
        return Progress(**json.loads((home / FOLDER / f"{domain}-{release}.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
