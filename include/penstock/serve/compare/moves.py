# ruff: noqa: S608 - names of columns of a source, and numbers of this module
"""What became of the same records in two releases: whose disposition or fields moved, and what explains it."""

from dataclasses import asdict, dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.relations import relation
from penstock.lake.retention import EXPIRED

# Rows that are looked at whole, column by column: shares of causes are of these when more moved.
LOOKED_AT = 200_000
SAMPLES = 3
# What a replay may number as it likes, and what follows from the disposition.
APART = ("epoch", "day", "raw", "content_hash", "known")
POSITION = ("partition", "offset")

# What expired in one release says nothing there, and what came after is rejected: no rule of the code did that either.
# Rejected as a collision, or a duplicate: another copy of the id was the first one. No rule of the code did that.
CAUSES = f"""
case when was is null or now is null then 'only in one release'
    when '{EXPIRED}' in (was_reason, now_reason)
        or list_contains(list_concat(row_before.flags, row_after.flags), '{EXPIRED}') then '{EXPIRED}'
    when was = 'fact' and now = 'duplicate' then 'late copy'
    when 'duplicate' in (was, now) or 'id_collision' in (was_reason, now_reason) then 'other copy'
    when now = 'rejected' and was = 'fact' then 'rule ' || now_reason
    when was = 'rejected' and now = 'fact' then 'rule ' || was_reason
    when was_reason is distinct from now_reason then 'rule ' || was_reason || ' is now ' || now_reason
    else 'field ' || coalesce(array_to_string(differs, ', '), 'unknown') end
"""
OF_CODE = ("rule ", "field ")


@dataclass(frozen=True)
class Cause:
    """What explains some of the moved records: a rule of the code, fields of it, or copies of ids."""

    name: str
    records: int
    share: float
    samples: tuple[dict[str, Any], ...] = ()

    @property
    def of_code(self) -> bool:
        return self.name.startswith(OF_CODE)


@dataclass(frozen=True)
class Moves:
    """One source in both releases, at the positions that both have."""

    source: str
    compared: int = 0
    moved: int = 0
    # Records that only one of them has by now: a release that is still catching up.
    ahead: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    causes: tuple[Cause, ...] = ()
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Silver:
    """Both releases of one source, registered in one DuckDB; `looked` has the moved rows that are looked at whole."""

    def __init__(self, engine: duckdb.DuckDBPyConnection, layout: Layout, source: str, before: str, after: str) -> None:
        self.engine, self.source = engine, source
        tables = [open_table(layout.silver(release, source)) for release in (before, after)]
        self.there = all(tables)
        if self.there:
            self._columns(*tables)  # type: ignore[arg-type]

    def _columns(self, before: DeltaTable, after: DeltaTable) -> None:
        for name, table in (("before", before), ("after", after)):
            relation(self.engine, name, table)
        old, new = ([one.name for one in table.schema().fields] for table in (before, after))
        self.both = [name for name in old if name in new and name not in (*APART, *POSITION)]
        self.only = tuple(sorted({*old} - {*new})), tuple(sorted({*new} - {*old}))

    def moves(self) -> Moves:
        """Everything that moved, with what explains it."""
        if not self.there:
            return Moves(self.source)
        self._find()
        compared, ahead = self._one("select count(*) filter (not ahead), count(*) filter (ahead) from paired")
        counts = dict(self._all("select coalesce(was, 'nothing') || ' to ' || coalesce(now, 'nothing'), n from kinds"))
        moved = sum(counts.values())
        self._look(moved)
        return Moves(self.source, compared, moved, ahead, counts, self.causes("true"), *self.only)

    def causes(self, relevant: str) -> tuple[Cause, ...]:
        """What explains those of the moved records for which a condition holds."""
        rows = self._all(
            f"select cause, count(*) as n from looked where {relevant} group by cause order by n desc, cause"
        )
        total = sum(count for _, count in rows)
        return tuple(Cause(name, count, count / total, self._samples(name)) for name, count in rows)

    def moving_days(self) -> set[Any]:
        """Days of facts that only one release has by now: their numbers are not comparable yet."""
        if not self.there or not self._one("select bool_or(ahead) from paired")[0]:
            return set()
        found = self._all(
            'select distinct day from (select partition, "offset", day, disposition from before union all '
            'select partition, "offset", day, disposition from after) semi join (select * from paired where ahead) '
            "using (partition, \"offset\") where disposition = 'fact'"
        )
        return {day for (day,) in found}

    def _find(self) -> None:
        """Pairs each position's row in both by a hash of all that they have in common."""
        hashed = f'select partition, "offset", disposition, reason, hash({_quoted(self.both)}) as content from'
        self.engine.execute(
            f"""create or replace temp table paired as
            with old as ({hashed} before), new as ({hashed} after),
            ends as (select partition, least(o, n) as stop from
                (select partition, max("offset") as o from old group by 1) full join
                (select partition, max("offset") as n from new group by 1) using (partition))
            select partition, "offset", old.disposition as was, new.disposition as now, old.reason as was_reason,
                new.reason as now_reason, old.content is distinct from new.content as moved,
                "offset" > coalesce(stop, -1) as ahead
            from old full join new using (partition, "offset") left join ends using (partition)"""
        )
        self.engine.execute(
            "create or replace temp table kinds as select was, now, count(*) as n from paired "
            "where moved and not ahead group by 1, 2"
        )

    def _look(self, moved: int) -> None:
        """Brings the moved rows, or a fair part of them, in both versions, and names each one's cause."""
        part = "true" if moved <= LOOKED_AT else f'hash(partition, "offset") % {moved} < {LOOKED_AT}'
        own = [name for name in self.both if name not in ("disposition", "reason", "received_at", "logged_at")]
        # Long names: a source may well have columns that are called a and b.
        pair = 'row_before."{0}" is distinct from row_after."{0}"'
        differs = ", ".join(f"case when {pair.format(name)} then '{name}' end" for name in own)
        self.engine.execute(
            f"""create or replace temp table looked as
            with chosen as (select * from paired where moved and not ahead and {part}),
            row_before as (select * from before semi join chosen using (partition, "offset")),
            row_after as (select * from after semi join chosen using (partition, "offset")),
            told as (
                select chosen.*, list_filter([{differs}], lambda x: x is not null) as differs, row_before, row_after
                from chosen left join row_before using (partition, "offset")
                left join row_after using (partition, "offset"))
            select *, {CAUSES} as cause from told"""
        )

    def _samples(self, cause: str) -> tuple[dict[str, Any], ...]:
        """Where some of them are, and what differs; never whole rows, which are about people."""
        told = self.engine.sql(
            'select partition, "offset", was, was_reason, now, now_reason, differs from looked where cause = $cause '
            f'order by partition, "offset" limit {SAMPLES}',
            params={"cause": cause},
        ).to_arrow_table()
        return tuple(pa.Table.to_pylist(told))

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        return self.engine.execute(sql).fetchall()

    def _one(self, sql: str) -> tuple[Any, ...]:
        return self._all(sql)[0]


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
