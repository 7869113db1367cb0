"""A table's log as one who appends sees it: what was committed, and how a version is added to it.

A version is a file that one writer makes (docs/decisions/0020). On a disk it takes a line for each file and a link;
delta-rs, which takes five times the processor for it, reads the table when it is opened (docs/decisions/0040). On an
object store it commits as well.
"""

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction

from penstock.lake.place import place
from penstock.lake.versions import later, log_folder, redefines, version_file

# Log checkpoints are made beside the epochs, not inside them: engine/upkeep.py.
NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
# Appends conflict in nothing but the version's number, which is soon found.
RETRIES = 100
# What asks more of a writer than to write its files and their statistics is named as a feature from here on.
PLAIN_WRITER = 2


@dataclass(frozen=True)
class Written:
    """A file that is in the table's folder and not yet in its log."""

    name: str
    size: int
    partition: Mapping[str, str | None]
    statistics: str

    @property
    def records(self) -> int:
        return int(json.loads(self.statistics)["numRecords"])


@dataclass(frozen=True)
class Entry:
    """What a version says beside its files: the transaction that it is, the one before it, and a note."""

    app: str
    number: int
    after: int
    note: Mapping[str, Any]

    @property
    def said(self) -> dict[str, Any]:
        # Blind: a MERGE that runs meanwhile need not read what was appended (Spark's word for it).
        return {"penstock": self.note, "isBlindAppend": True}


class TableLog(Protocol):
    def committed(self, app: str) -> int:
        """The last transaction of an application; -1 when there is none."""

    def append(self, files: Sequence[Written], entry: Entry) -> None:
        """Adds a version. Raises CommitFailedError where the application has committed since `entry.after`."""


def log_of(path: str, table: DeltaTable) -> TableLog:
    return LinkedLog(path, table) if place(path).local and plain(table) else StoreLog(table)


def plain(table: DeltaTable) -> bool:
    return table.protocol().min_writer_version <= PLAIN_WRITER


class StoreLog:
    """By delta-rs, which knows how each object store lets one writer win."""

    def __init__(self, table: DeltaTable) -> None:
        self._table = table

    def committed(self, app: str) -> int:
        self._table.update_incremental()
        return self._known(app)

    def _known(self, app: str) -> int:
        version = self._table.transaction_version(app)
        return -1 if version is None else version

    def append(self, files: Sequence[Written], entry: Entry) -> None:
        # What was committed since the last look is delta-rs' to find: a transaction of one name is let through once.
        if self._known(entry.app) != entry.after:
            raise _overtaken(entry, self._table.table_uri)
        now = _now()
        self._table.create_write_transaction(
            [AddAction(each.name, each.size, {**each.partition}, now, True, each.statistics) for each in files],
            "append",
            self._table.schema(),
            self._table.metadata().partition_columns,
            post_commithook_properties=NO_HOOKS,
            commit_properties=CommitProperties(
                custom_metadata=entry.said,
                max_commit_retries=RETRIES,
                app_transactions=[Transaction(entry.app, entry.number)],
            ),
        )


class LinkedLog:
    """By a link on a disk: the kernel lets one writer win. Others' versions are read as they come."""

    def __init__(self, path: str, table: DeltaTable) -> None:
        self._path, self._folder = path, log_folder(path)
        self._version = -1
        self._opened(table)

    def committed(self, app: str) -> int:
        self._follow()
        if app not in self._committed:
            version = self._table.transaction_version(app)
            self._committed[app] = -1 if version is None else version
        return self._committed[app]

    def append(self, files: Sequence[Written], entry: Entry) -> None:
        # No reader of a log looks at a name that starts with a dot.
        draft = f".{uuid.uuid4()}.tmp"
        try:
            self._folder.write(draft, b"\n".join(json.dumps(each).encode() for each in self._actions(files, entry)))
            for _ in range(RETRIES):
                if self.committed(entry.app) != entry.after:
                    raise _overtaken(entry, self._path)
                if self._won(draft):
                    self._version += 1
                    self._committed[entry.app] = entry.number
                    return
        finally:
            self._folder.forget(draft)
        raise CommitFailedError(f"{self._path} is written by too many at once; run it again")

    def _won(self, draft: str) -> bool:
        if self._folder.length(version_file(self._version)) is None:
            raise CommitFailedError(f"{self._path} has no version {self._version} any more: it was made anew")
        try:
            os.link(f"{self._folder.path}/{draft}", f"{self._folder.path}/{version_file(self._version + 1)}")
        except FileExistsError:
            return False
        return True

    def _actions(self, files: Sequence[Written], entry: Entry) -> list[dict[str, Any]]:
        now = _now()
        by = json.dumps(self._table.metadata().partition_columns)
        told = {"timestamp": now, "operation": "WRITE", "operationParameters": {"mode": "Append", "partitionBy": by}}
        added = [
            {"path": each.name, "partitionValues": each.partition, "size": each.size, "modificationTime": now,
             "dataChange": True, "stats": each.statistics}
            for each in files
        ]  # fmt: skip
        return [
            {"commitInfo": told | entry.said},
            *({"add": each} for each in added),
            {"txn": {"appId": entry.app, "version": entry.number}},
        ]

    def _follow(self) -> None:
        for version, came in later(self._folder, self._version):
            if redefines(came):
                self._opened(DeltaTable(self._path))
                return
            said = [action["txn"] for action in came if "txn" in action]
            self._committed.update({each["appId"]: each["version"] for each in said})
            self._version = version

    def _opened(self, table: DeltaTable) -> None:
        if not plain(table):
            raise CommitFailedError(f"{self._path} has become a table that only delta-rs may write; open it again")
        self._table, self._version = table, int(table.version())
        self._committed: dict[str, int] = {}


def _overtaken(entry: Entry, path: str) -> CommitFailedError:
    return CommitFailedError(f"{entry.app} was committed to {path} by somebody else meanwhile")


def _now() -> int:
    return int(time.time() * 1000)
