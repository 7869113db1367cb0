"""Tables that are looked at again and again, and seldom have anything new."""

from collections.abc import Mapping

from deltalake import DeltaTable

from penstock.lake.layout import Layout
from penstock.lake.names import version_file
from penstock.lake.place import place
from penstock.lake.publication import open_table
from penstock.lake.releases import Registry, registries


class Followed:
    """A table as far as its log was read; none before its first version.

    On a disk the next version's name is asked for first, in a few microseconds: delta-rs lists the log, and takes fifty
    times as long to say that nothing came (docs/decisions/0057).
    """

    def __init__(self, path: str) -> None:
        self.path, self._log = path, place(path).below("_delta_log")
        self.table: DeltaTable | None = None

    @property
    def version(self) -> int:
        """-1 before there is any."""
        return -1 if self.table is None else self.table.version()

    def look(self) -> int:
        """Reads what came; the version by now."""
        if self.table is None:
            self.table = open_table(self.path) if self._log.there() else None
        elif not self._still():
            self.table.update_incremental()
        return self.version

    def _still(self) -> bool:
        """Whether the version that was read is there and the last. On a store each question is a request as well."""
        return self._log.local and self._there(self.version) and not self._there(self.version + 1)

    def _there(self, version: int) -> bool:
        return self._log.length(version_file(version)) is not None


class Registries:
    """What was said of every domain's releases, read again only when more was said."""

    def __init__(self, layout: Layout) -> None:
        self._table = Followed(layout.control("releases"))
        self._read: tuple[int, Mapping[str, Registry]] = -1, {}

    def now(self) -> Mapping[str, Registry]:
        version = self._table.look()
        if version != self._read[0]:
            self._read = version, registries(self._table.table)
        return self._read[1]

    def of(self, domain: str) -> Registry:
        return self.now().get(domain, Registry(domain))
