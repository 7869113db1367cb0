"""A view at pinned versions: the files of gold, the cut, and the open partials in memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake.files import File, file_list
from penstock.lake.following import Followed, Listed
from penstock.lake.layout import Layout
from penstock.lake.publication import newest
from penstock.model.view import View, source_of
from penstock.serve.engine import Engine
from penstock.serve.files import Files, together
from penstock.serve.opened import Opened

Segment = tuple[str, datetime, datetime]


@dataclass(frozen=True)
class Snapshot:
    """What one query sees. `speed` also holds rows that the cut covers, until a build removes them."""

    view: View
    release: str
    cut: int = -1
    gold_version: int = -1
    speed_version: int = -1
    gold: tuple[File, ...] = ()
    speed: pa.Table | None = field(default=None, compare=False)
    # Days whose gold is out of date, because what is open has changed them as a whole.
    replaced: frozenset[date] = frozenset()
    # When gold was published last; empty before the first build.
    built_at: str = ""

    @cached_property
    def open(self) -> pa.Table | None:
        """The partials that came after the cut."""
        return self.since(self.cut)

    def since(self, epoch: int) -> pa.Table | None:
        if self.speed is None:
            return None
        rows = self.speed.filter(pc.greater(self.speed["epoch"], epoch))
        return rows if rows.num_rows else None

    @cached_property
    def epoch(self) -> int:
        """The last epoch that is in the answer."""
        newest_open = pc.max(self.speed["epoch"]).as_py() if self.speed is not None and self.speed.num_rows else None
        return max(self.cut, -1 if newest_open is None else newest_open)

    def chosen(self, files: Files, segments: Iterable[Segment]) -> pa.Table | None:
        """The rows of gold that these widths and ranges may need."""
        wanted = tuple(segments)
        chosen = [file for file in self.gold if any(_overlaps(file, segment) for segment in wanted)]
        return together([files.read(file) for file in chosen if file.partition["day"] not in self.replaced])

    def within(self, files: Files, first: date, final: date) -> pa.Table | None:
        """The rows of gold of these days, both included."""
        return together([files.read(file) for file in self.gold if first <= file.partition["day"] <= final])

    def everything(self, files: Files) -> pa.Table | None:
        return together([files.read(file) for file in self.gold])


class ViewTables:
    """Follows the two tables of a view. A snapshot is swapped whole, and never for an older one."""

    def __init__(self, layout: Layout, release: str, view: View, files: Files, engine: Engine) -> None:
        self._gold, self._speed = Followed(layout.gold(release, view.name)), Listed(layout.speed(release, view.name))
        self._opened = Opened(view, files, engine)
        self.snapshot = Snapshot(view, release)

    def refresh(self) -> bool:
        """Reads what new versions added. Speed first: what a build removes there is in gold before it is removed."""
        speed_version, gold_version = self._speed.look(), self._gold.look()
        now, gold = self.snapshot, self._gold.table
        if (speed_version, gold_version) == (now.speed_version, now.gold_version):
            return False
        if speed_version < now.speed_version or gold_version < now.gold_version:
            raise RuntimeError(f"{now.view.name} went back from version {now.gold_version} to {gold_version}")
        gold_is_new = gold_version != now.gold_version
        said = newest(gold) if gold_is_new else None
        cut = said.cut.get(source_of(now.view).name, -1) if said else now.cut
        self.snapshot = Snapshot(
            now.view,
            now.release,
            cut,
            gold_version,
            speed_version,
            tuple(file_list(gold)) if gold_is_new and gold else now.gold,
            self._opened.rows(self._speed.files, cut) if self._speed.table else None,
            built_at=said.built_at if said else now.built_at,
        )
        return True


def _overlaps(file: File, segment: Segment) -> bool:
    width, start, end = segment
    day = file.partition["day"]
    last = (end - timedelta(microseconds=1)).date()
    return bool(file.partition["width"] == width and start.date() <= day <= last)
