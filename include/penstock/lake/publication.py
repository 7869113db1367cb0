"""What a build published: read from the commits of a gold table, without a JVM."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import TableNotFoundError

from penstock.lake.layout import Layout
from penstock.lake.versions import log_folder, version_file

# How far back a cut is looked for: every commit on gold carries it, so the first is the usual answer.
COMMITS = 50
# The name under which builds commit to gold: of two that stand on one version, Delta lets one through.
PUBLISHING = "penstock.publish"


@dataclass(frozen=True)
class Publication:
    """The cut of each source that gold includes, the days that it replaced (None: all), and what the gate said.

    `begun_at`: before the build read its code and facts, where whoever started it said so (lake/asked.py).
    """

    cut: dict[str, int]
    release: str
    days: list[str] | None = None
    gate: dict[str, Any] = field(default_factory=dict)
    built_at: str = ""
    begun_at: str = ""

    def to_metadata(self) -> str:
        return json.dumps({"penstock": asdict(self)})


def open_table(path: str, version: int | None = None) -> DeltaTable | None:
    """The table, or nothing where none has been written yet."""
    try:
        return DeltaTable(path, version=version)
    except TableNotFoundError:
        return None


def column_names(table: DeltaTable) -> list[str]:
    return [field.name for field in table.schema().fields]


def publications(table: DeltaTable) -> Iterator[Publication]:
    """What was published at or before the version that the table was opened at, newest first."""
    for commit in _commits(table):
        said = json.loads(commit.get("userMetadata") or "{}").get("penstock")
        if said:
            yield Publication(**said)


def _commits(table: DeltaTable) -> Iterator[dict[str, Any]]:
    """The log's own words: delta-rs tells the history from the newest commit, whatever version was opened."""
    log = log_folder(table.table_uri.rstrip("/"))
    for version in range(table.version(), max(-1, table.version() - COMMITS), -1):
        try:
            lines = log.read(version_file(version)).splitlines()
        except FileNotFoundError:
            return
        yield next((json.loads(line)["commitInfo"] for line in lines if line.startswith(b'{"commitInfo"')), {})


def newest(table: DeltaTable | None) -> Publication | None:
    """The publication that the table's rows are of."""
    return next(publications(table), None) if table is not None else None


def said_again(table: DeltaTable) -> CommitProperties | None:
    """What a later commit on gold has to say: a publication is found by its commit."""
    said = newest(table)
    return CommitProperties(custom_metadata={"userMetadata": said.to_metadata()}) if said else None


def cut_of(layout: Layout, release: str, view: str, source: str) -> int:
    """The last epoch of a source that a view's gold includes; -1 before the first build."""
    said = newest(open_table(layout.gold(release, view)))
    return said.cut.get(source, -1) if said else -1


def last_epoch(table: DeltaTable | None, query_id: str) -> int:
    """The last epoch that a query has committed to a table; -1 before the first."""
    version = table.transaction_version(query_id) if table is not None else None
    return -1 if version is None else int(version)
