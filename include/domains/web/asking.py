"""Asks DuckDB of a batch of records, and Python what the names in them mean."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import duckdb
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from domains.web import known, reading
from penstock.lake.dialect import table_of

# What the engine needs of a record itself: where and when the log took it, and its bytes.
KEPT = ("partition", "offset", "logged_at", "value")


def asked(records: pa.Table, steps: Sequence[Mapping[str, str]], reason: str, columns: Mapping[str, str]) -> pa.Table:
    """What `columns` say how to make, and all that was told beside."""
    made = {
        "event_id": "coalesce(told.event_id, event_id)",
        "happened_at": reading.HAPPENED_AT,
        "received_at": "arrived",
        "reason": reason,
        "flags": reading.FLAGS,
        **columns,
        "told": "told",
    }
    return pa.table(_columns(records.select(KEPT)) | _columns(_answered(records, steps, made)))


def asked_once(
    rows: pa.Table, of: Sequence[str], steps: Sequence[Mapping[str, str]], columns: Mapping[str, str]
) -> pa.Table:
    """With columns that follow from some others alone: they are made once for each different row of these."""
    codes, different = _different(rows.select(of))
    return pa.table(_columns(rows) | _columns(_answered(different, steps, columns).take(codes)))


def _different(rows: pa.Table) -> tuple[pa.Array, pa.Table]:
    """Which of its different rows each row is, and those."""
    places = np.zeros(rows.num_rows, dtype=np.int64)
    for column in rows.columns:
        codes = column.combine_chunks().dictionary_encode(null_encoding="encode")
        places = places * len(codes.dictionary) + codes.indices.to_numpy()
    _, first, codes = np.unique(places, return_index=True, return_inverse=True)
    return pa.array(codes), rows.take(pa.array(first))


def _answered(rows: pa.Table, steps: Sequence[Mapping[str, str]], columns: Mapping[str, str]) -> pa.Table:
    """A column for each name, in the rows' order; a step may use the columns of those before it."""
    asked = "rows"
    for step in steps:
        asked = f"(select *, {_named(step)} from {asked})"  # noqa: S608 - texts of ours
    with _engine().cursor() as engine:
        engine.register("rows", rows)
        said = f"select {_named(columns)} from {asked}"  # noqa: S608 - texts of ours
        return _flattened(table_of(engine, said, rows.num_rows))


def _flattened(table: pa.Table) -> pa.Table:
    """With each field of a structure as a column, where there is none of its name: DuckDB takes longer to plan them."""
    for column in [field for field in table.schema if pa.types.is_struct(field.type)]:
        for field in column.type:
            if field.name not in table.column_names:
                table = table.append_column(field.name, pc.struct_field(table[column.name], field.name))
    return table


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _named(columns: Mapping[str, str]) -> str:
    return ", ".join(f'{text} as "{name}"' for name, text in columns.items())


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    # Nothing of a record is kept for the next one, so there is nothing to put on disk.
    engine = duckdb.connect(config={"threads": 1, "memory_limit": "2GB", "temp_directory": ""})
    engine.create_function("is_json", _is_json, ["varchar"], "boolean")
    for name, meaning, names in (
        ("known_referrer", known.referrer, known.Referrer._fields),
        ("known_place", known.place, known.Place._fields),
    ):
        kinds = dict.fromkeys(names, "varchar")
        function = partial(_looked_up, meaning, names)
        engine.create_function(  # type: ignore[call-overload]
            name, function, ["varchar"], duckdb.struct_type(kinds), type="arrow", null_handling="special"
        )
    return engine


def with_agents(rows: pa.Table) -> pa.Table:
    """With what the user agents mean. As a function of DuckDB's it would pass texts to and fro for each record."""
    for name, column in _meant(known.agent, known.Agent._fields, rows["user_agent"]).items():
        rows = rows.append_column(name, column)
    return rows


def _looked_up(
    meaning: Callable[[str], tuple[object, ...]], names: Sequence[str], texts: pa.ChunkedArray
) -> pa.StructArray:
    meant = _meant(meaning, names, texts)
    return pa.StructArray.from_arrays([*meant.values()], [*meant])


def _meant(
    meaning: Callable[[str], tuple[object, ...]], names: Sequence[str], texts: pa.ChunkedArray
) -> dict[str, pa.Array]:
    """What each text means, by name; asked once for each different one."""
    codes = pc.fill_null(texts, "").combine_chunks().dictionary_encode()
    meanings = [meaning(text) for text in codes.dictionary.to_pylist()]
    # Of no texts there is nothing to tell a column's type by.
    columns = [[each[place] for each in meanings] for place in range(len(names))]
    kinds = [pa.bool_() if name == "bot" else pa.string() for name in names]
    made = [pa.array(column, kind).take(codes.indices) for column, kind in zip(columns, kinds, strict=True)]
    return dict(zip(names, made, strict=True))


def _is_json(text: str) -> bool:
    """By the letter of its specification, and no deeper than 1,024 levels, wherever it is asked."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
