# ruff: noqa: S608 - the text holds names and conditions of the view only
"""What another source had said of keys, and facts enriched with it. One definition for every plan; no JVM.

A row of silver has in `known` how far each other source had been read when its epoch was judged: by source, the offset
after the last of each partition. docs/decisions/0091.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.lake.following import Listed
from penstock.lake.layout import Layout
from penstock.lake.local import answer, spoken_of
from penstock.lake.place import plain
from penstock.lake.place import rows as rows_of_file
from penstock.lake.publication import column_names
from penstock.model.source import Enriched, Source
from penstock.model.view import View, enrichment

POSITION = ("partition", "offset")
# What each row says of itself, beside the fields that views ask for.
OWN = (*POSITION, "disposition", "logged_at", "happened_at", "event_id")
# The columns of facts by which they are joined, beside the one that names the key.
JOINED_BY = ("logged_at", "known")
FURTHEST = """
select part, max(_end) as most from (
    select unnest(range(len(_ends))) as part, unnest(_ends) as _end from (select distinct {ends} as _ends from said)
) group by part
"""
# Before its silver has any file, a source has said nothing.
NOTHING = pa.table({"partition": pa.array([], pa.int32()), "offset": pa.array([], pa.int64())})


def enriched(of: Enriched, facts: pa.Table, said: pa.Table | None) -> pa.Table:
    """Those of the facts that are to be, with the columns that views see beside their own. `said`: rows of the other
    source's silver."""
    if "known" not in facts.column_names:
        facts = facts.append_column("known", pa.nulls(facts.num_rows, pa.string()))
    if said is None or not said.num_rows:
        return answer(unknown_sql(of), facts=facts)
    return answer(enriched_sql(of), facts=facts, said=said)


def unknown_sql(of: Enriched) -> str:
    """The same where nothing was said."""
    kinds = {field.name: field.type for field in of.said.source.fields}
    nothing = (f'cast(null as {kinds[theirs]}) as "{own}"' for own, theirs in of.columns.items())
    return f"select *, {', '.join(nothing)} from facts where {of.where}"


def enriched_sql(of: Enriched) -> str:
    """Of each field the last value that was said; equal times are decided by the event's id."""
    value = 'max(struct_pack(at := happened_at, id := event_id, it := "{0}")) filter ("{0}" is not null)'
    values = ", ".join(f'({value.format(theirs)}).it as "{own}"' for own, theirs in of.columns.items())
    shown = ", ".join(f'told."{own}"' for own in of.columns)
    # Without a word of what was known, what the log had taken by then was.
    before = '"offset" < coalesce(_ends[partition + 1], 0)'
    return (
        f"with rows as (select *, {ends_sql(of.said.source.name)} as _ends from facts where {of.where}), "
        f'asked as (select distinct "{of.on}" as _key, _ends, case when _ends is null then logged_at end as _logged '
        f'from rows where "{of.on}" is not null), '
        f"profiles as (select * from said where disposition = 'fact' and ({of.said.where})), "
        f'told as (select _key, _ends, _logged, {values} from asked join profiles on "{of.key}" = _key '
        f"where case when _ends is null then logged_at <= _logged else {before} end group by _key, _ends, _logged) "
        f'select rows.* exclude (_ends), {shown} from rows left join told on rows."{of.on}" = _key '
        "and rows._ends is not distinct from told._ends and (rows._ends is not null or rows.logged_at = _logged)"
    )


def ends_sql(source: str) -> str:
    """By partition, how far a source had been read when a row of silver was judged; null where nobody said."""
    return f"""cast(json_extract(known, '$."{source}"') as bigint[])"""


def columns_of(definitions: Iterable[Enriched]) -> list[str]:
    """The columns of another source's silver that these definitions need."""
    asked = [(each, f"{each.key} {' '.join(each.columns.values())} {each.said.where}") for each in definitions]
    fields = [spoken_of([field.name for field in each.said.source.fields], said) for each, said in asked]
    return [*OWN, *dict.fromkeys(chain.from_iterable(fields))]


class Profiles:
    """What a source's silver says by now. Files never change, so each is read once."""

    def __init__(self, layout: Layout, release: str, source: Source, columns: Iterable[str]) -> None:
        self._table = Listed(layout.silver(release, source.name))
        self._columns = list(columns)
        self._files: dict[str, pa.Table] = {}
        self._rows, self._ends, self._version = NOTHING, list[int](), -1
        # An epoch is judged while the one before it is counted.
        self._desk = Lock()

    def rows(self) -> pa.Table:
        """Every row, of the columns that were asked for."""
        with self._desk:
            return self._refreshed()

    def ends(self) -> list[int]:
        """By partition, the offset after the last that silver has."""
        with self._desk:
            self._refreshed()
            return self._ends

    def _refreshed(self) -> pa.Table:
        version = self._table.look()
        if self._version != version and self._table.table is not None:
            held, kept = self._files, self._schema(self._table.table)
            uris = [file.uri for file in self._table.files]
            self._files = {uri: held[uri] if uri in held else _read(uri, kept) for uri in uris}
            self._rows = pa.concat_tables(self._files.values()) if uris else NOTHING
            self._ends, self._version = ends_of(self._rows), version
        return self._rows

    def _schema(self, table: DeltaTable) -> pa.Schema:
        own = pa.schema(table.schema().to_arrow())
        return pa.schema([(name, plain(own.field(name).type)) for name in self._columns])


def _read(uri: str, kept: pa.Schema) -> pa.Table:
    return rows_of_file(uri).select(kept.names).cast(kept)


def profiles_of(layout: Layout, release: str, views: Iterable[View]) -> dict[str, Profiles]:
    """By name, every source that facts of these views are enriched with."""
    definitions = [of for view in views if (of := enrichment(view))]
    return {
        source.name: Profiles(layout, release, source, columns_of(of for of in definitions if of.said.source == source))
        for source in (of.said.source for of in definitions)
    }


def as_seen(layout: Layout, release: str, view: View, facts: pa.Table) -> pa.Table:
    """Facts with all columns that a view may ask for."""
    of = enrichment(view)
    return enriched(of, facts, profiles_of(layout, release, [view])[of.said.source.name].rows()) if of else facts


def ends_of(rows: pa.Table) -> list[int]:
    last = rows.group_by("partition").aggregate([("offset", "max")])
    ends = dict(zip(*(last[name].to_pylist() for name in ("partition", "offset_max")), strict=True))
    return [ends.get(part, -1) + 1 for part in range(max(ends, default=-1) + 1)]


def known(ends: Mapping[str, list[int]]) -> str | None:
    """What silver's rows say of how far other sources were read; nothing where no view asks."""
    return json.dumps(ends, separators=(",", ":"), sort_keys=True) if ends else None


def lacking(silver: DeltaTable, source: str, ends: list[int], since: int | None) -> int:
    """How many records of a source that facts of later epochs (None: of all) were joined with are beyond these ends."""
    if "known" not in column_names(silver):
        return 0
    later = pc.field("known").is_valid() if since is None else pc.field("epoch") > since
    said = silver.to_pyarrow_dataset().to_table(["known"], filter=later)
    most = answer(FURTHEST.format(ends=ends_sql(source)), said=said).to_pylist()
    return sum(max(0, row["most"] - (ends[row["part"]] if row["part"] < len(ends) else 0)) for row in most)
