"""What gates said, one row a check, in `control/gates`: written by jobs, read by alerts and people without a JVM."""

import json
import shlex
from dataclasses import dataclass, fields
from datetime import UTC, datetime

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table


@dataclass(frozen=True)
class Checked:
    """`failed`, `results` and `sample` are JSON; `candidate` is where the rows are that were looked at."""

    at: datetime
    table: str
    release: str
    passed: bool
    severity: str
    reason: str
    candidate: str
    where: str
    failed: str
    sample: str
    results: str
    seconds: float

    def _verdict(self) -> list[str]:
        if self.passed:
            return [f"{self.table} was published, and some expectations that block nothing failed:"]
        refused = f"The gate refused {self.table}: {self.reason}."
        return [refused, "Readers keep the last good numbers; nothing was published."]

    def text(self) -> str:
        """What a person at night needs: what failed, three rows, how to see all, what readers see meanwhile."""
        rows = "\n".join(json.dumps(row, ensure_ascii=False) for row in json.loads(self.sample))
        return "\n".join(
            [
                *self._verdict(),
                *(f"- {one['expectation']} ({one['severity']}) {one['raised']}" for one in json.loads(self.failed)),
                *(["Some of the rows:", rows] if rows else []),
                f"All of them, in {self.candidate}: {self._query()}",
            ]
        )

    def _query(self) -> str:
        """What shows the rows: a release's candidate that was refused is a table beside the view."""
        name = self.table.replace(".", "_")
        table = f"refused_{self.release}_{name}" if "/candidate/" in self.candidate and not self.passed else name
        words = ["select * from", table, *(["where", self.where] if self.where else [])]
        return f"penstock sql {shlex.quote(' '.join(words))}"


TYPES = {"at": pa.timestamp("us", "UTC"), "passed": pa.bool_(), "seconds": pa.float64()}
SCHEMA = pa.schema([(field.name, TYPES.get(field.name, pa.string())) for field in fields(Checked)])


def record(layout: Layout, checked: Checked) -> None:
    row = {field.name: [getattr(checked, field.name)] for field in fields(Checked)}
    write_deltalake(layout.control("gates"), pa.table(row, SCHEMA), mode="append")


def refusals(lake: str, since: datetime) -> list[Checked]:
    """Checks that did not pass, newest first."""
    return [checked for checked in checks(lake, since) if not checked.passed]


def checks(lake: str, since: datetime = datetime(1970, 1, 1, tzinfo=UTC)) -> list[Checked]:
    table: DeltaTable | None = open_table(Layout(lake).control("gates"))
    if table is None:
        return []
    rows = table.to_pyarrow_table(filters=[("at", ">=", since)]).sort_by([("at", "descending")])
    return [Checked(**row) for row in rows.to_pylist()]
