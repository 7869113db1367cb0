"""Tables that are looked at again and again, and seldom have anything new."""

from collections.abc import Mapping
from typing import Any

from deltalake import DeltaTable

from penstock.lake.files import File, file_list, file_of, uri_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import Registry, registries
from penstock.lake.versions import later, log_folder, redefines, version_file


class Followed:
    """A table as far as its log was read; none before its first version.

    On a disk the next version's name is asked for first, in a few microseconds: delta-rs lists the log, and takes fifty
    times as long to say that nothing came (docs/decisions/0057).
    """

    def __init__(self, path: str) -> None:
        self.path, self._log = path, log_folder(path)
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


class Listed:
    """The files of a table that gets versions all the time.

    delta-rs goes through all files for each version: 300 of them take 25 milliseconds (docs/decisions/0057). On a disk
    the versions are read one by one instead, and `table` is as it was when it was opened, or redefined.
    """

    def __init__(self, path: str) -> None:
        self.path, self._log = path, log_folder(path)
        self._opened = Followed(path)
        self._files: dict[str, File] = {}
        self.version = -1

    @property
    def table(self) -> DeltaTable | None:
        return self._opened.table

    @property
    def files(self) -> list[File]:
        return [*self._files.values()]

    def look(self) -> int:
        """Reads what came; the version by now."""
        if self._log.local and self._log.length(version_file(self.version)) is not None:
            self._follow()
        else:
            self._list()
        return self.version

    def _follow(self) -> None:
        for version, came in later(self._log, self.version):
            if redefines(came):
                self._list()
                return
            for action in came:
                self._change(action)
            self.version = version

    def _change(self, action: Mapping[str, Any]) -> None:
        assert self.table is not None
        if "add" in action:
            file = file_of(self.table, action["add"])
            self._files[file.uri] = file
        elif "remove" in action:
            # A version that was half applied when something failed is applied again.
            self._files.pop(uri_of(self.table, action["remove"]["path"]), None)

    def _list(self) -> None:
        if (version := self._opened.look()) != self.version and self.table is not None:
            self._files = {file.uri: file for file in file_list(self.table)}
            self.version = version


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
