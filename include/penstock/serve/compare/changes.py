# ruff: noqa: S608 - names of a view's keys and measures
"""What two releases answer to the same view: rows added, lost and changed by day and key, and how much per measure."""

import re
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from typing import Any

import duckdb
import pyarrow as pa

from penstock.model.bucket import Bucket
from penstock.model.view import Latest, PerKey, Sessions, Tally, View, keys
from penstock.serve.compare.moves import Cause
from penstock.serve.question import EARLIEST, LATEST, Question, numbers
from penstock.serve.reader import ALL_ROWS, Reader

# Sketches differ by their error when the same facts come in another order: three times the standard error.
ERRORS = {"distinct": 0.05, "theta": 0.1, "members": 0.1, "quantile": 0.05}
# Sketches of most frequent items list what is not frequent in any order.
UNORDERED = ("top",)
LARGEST = 5
FOUND = "(not _b or not _a or _differs)"
DAY, ONE_DAY = Bucket.of("1 day"), timedelta(days=1)


@dataclass(frozen=True)
class Size:
    """How much a measure changed: `share` is the sum of all differences by the sum that there was."""

    before: float
    after: float
    share: float


@dataclass(frozen=True)
class Change:
    """One view in both releases."""

    view: str
    rows: int = 0
    added: int = 0
    lost: int = 0
    changed: int = 0
    measures: dict[str, Size] = field(default_factory=dict)
    days: tuple[dict[str, Any], ...] = ()
    largest: tuple[dict[str, Any], ...] = ()
    causes: tuple[Cause, ...] = ()
    note: str = ""

    @property
    def same(self) -> bool:
        return not (self.added or self.lost or self.changed or self.note)

    @property
    def share(self) -> float:
        """The largest share by which a measure changed."""
        return max((size.share for size in self.measures.values()), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def rows_of(reader: Reader, view: View) -> pa.Table | None:
    """All rows of a view; a tally's by day, or by its own bucket if that is wider."""
    own = Bucket.of(view.every) if isinstance(view, Tally) else None
    every = DAY if own and own.divides(DAY) else own
    by = view.by if isinstance(view, Tally) else ()
    return reader.rows(Question(view, EARLIEST, LATEST, every, by, limit=ALL_ROWS))


def changed(
    engine: duckdb.DuckDBPyConnection,
    old: View,
    new: View,
    before: pa.Table | None,
    after: pa.Table | None,
    moving: set[date],
) -> Change:
    """Both releases' rows of a view side by side, without the days that only one of them has in full."""
    if keys(old) != keys(new):
        return Change(new.name, note=f"its keys were {', '.join(keys(old))} and are {', '.join(keys(new))}")
    # A view that was built of nothing has a table, and one that was not has none: neither has a row.
    if not before or not after:
        return _one_sided(new, before, after) if before or after else Change(new.name)
    names = [name for name in numbers(new) if name in numbers(old)]
    measured = [name for name in names if pa.types.is_integer(kind := after[name].type) or pa.types.is_floating(kind)]
    _join(engine, new, names, measured, before, after, moving)
    rows, added, lost, differ = engine.execute(
        "select count(*), count(*) filter (not _b), count(*) filter (not _a), count(*) filter (_b and _a and _differs) "
        "from joined"
    ).fetchall()[0]
    days = "select _day as day, count(*) filter (not _b) as added, count(*) filter (not _a) as lost, count(*) filter "
    days += f"(_b and _a) as changed from joined where {FOUND} group by 1 order by 1"
    shown = ", ".join(_largest(measured))
    size = " + ".join(f'abs(coalesce("a_{name}", 0) - coalesce("b_{name}", 0))' for name in measured)
    keyed = ", ".join(f'"{name}"' for name in ("_day", *keys(new)))
    # A view without numbers has no largest change.
    order = f"{size} desc, {keyed}" if measured else keyed
    most = f"select {keyed} {shown} from joined where {FOUND} order by {order} limit {LARGEST}"
    return Change(
        new.name, rows, added, lost, differ, _sizes(engine, measured), _told(engine, days), _told(engine, most),
        note=_definition(old, new),
    )  # fmt: skip


def _one_sided(view: View, before: pa.Table | None, after: pa.Table | None) -> Change:
    added, lost = (after.num_rows if after else 0), (before.num_rows if before else 0)
    return Change(view.name, added + lost, added, lost, note="only one of the releases has any row of it")


def _join(
    engine: duckdb.DuckDBPyConnection, view: View, names: list[str], measured: list[str],
    before: pa.Table, after: pa.Table, moving: set[date],
) -> None:  # fmt: skip
    moment = _moment(view)
    joined = [*keys(view), *([moment] if moment else [])]
    own = [name for name in names if name != moment]
    pairs = [f'b."{name}" as "b_{name}", a."{name}" as "a_{name}"' for name in own]
    kept = ", ".join(f'coalesce(a."{name}", b."{name}") as "{name}"' for name in joined)
    when = moment or ("at" if isinstance(view, Latest) else None)
    day = f'cast(greatest(a."{when}", b."{when}") as date)' if when else "null::date"
    on = " and ".join(f'a."{name}" is not distinct from b."{name}"' for name in joined) or "true"
    differs = " or ".join(_differs(view, name, name in measured) for name in own) or "false"
    outside = " and ".join(f"_day <> date '{each}'" for each in sorted(unsettled(view, moving))) or "true"
    engine.execute("set timezone = 'UTC'")
    engine.register("rows_before", before.append_column("_in", pa.array([True] * before.num_rows)))
    engine.register("rows_after", after.append_column("_in", pa.array([True] * after.num_rows)))
    engine.execute(
        f"create or replace temp table joined as select * from (select {kept}, {day} as _day, "
        f"{''.join(pair + ', ' for pair in pairs)} coalesce(b._in, false) as _b, coalesce(a._in, false) as _a, "
        f"({differs}) as _differs from rows_before b full join rows_after a on {on}) where _day is null or {outside}"
    )


def unsettled(view: View, moving: set[date]) -> set[date]:
    """The days of a view's rows that facts of these days may still change."""
    if isinstance(view, Sessions) or isinstance(view.of, Sessions):
        return moving | {day - ONE_DAY for day in moving}
    after = view.horizon if isinstance(view, PerKey) else 0
    return {day + ONE_DAY * later for day in moving for later in range(after + 1)}


def _moment(view: View) -> str | None:
    """The column that says when, beside the keys."""
    match view:
        case Tally():
            return "bucket"
        case Sessions():
            return "started"
        case PerKey():
            return view.at
    return None


def _differs(view: View, name: str, measured: bool) -> str:
    measures = view.measures if isinstance(view, Tally | Sessions) else {}
    kind = _kind(view, name) if name in measures else ""
    if kind in UNORDERED:
        return "false"
    if measured and kind in ERRORS:
        limit = f'{ERRORS[kind]} * greatest(abs(b."{name}"), abs(a."{name}"))'
        return (
            f'(b."{name}" is null) <> (a."{name}" is null) or coalesce(abs(a."{name}" - b."{name}") > {limit}, false)'
        )
    if measured:
        # The same numbers added in another order.
        return (
            f'(b."{name}" is null) <> (a."{name}" is null) or coalesce(abs(a."{name}" - b."{name}") > '
            f'1e-9 * greatest(abs(b."{name}"), abs(a."{name}")), false)'
        )
    return f'b."{name}" is distinct from a."{name}"'


def _kind(view: View, name: str) -> str:
    """A ratio of sketches errs as they do."""
    measures = view.measures if isinstance(view, Tally | Sessions) else {}
    kinds = [measures[name].kind, *(measures[each].kind for each in measures[name].needs if each in measures)]
    return next((kind for kind in kinds if kind in (*ERRORS, *UNORDERED)), kinds[0])


def _sizes(engine: duckdb.DuckDBPyConnection, measured: list[str]) -> dict[str, Size]:
    told = {}
    for name in measured:
        sums = f'coalesce(sum("b_{name}"), 0)::double, coalesce(sum("a_{name}"), 0)::double'
        apart = f'coalesce(sum(abs(coalesce("a_{name}", 0) - coalesce("b_{name}", 0))) filter ({FOUND}), 0)'
        whole = f'coalesce(sum(abs("b_{name}")), 0)::double'
        before, after, moved, size = engine.execute(f"select {sums}, {apart}::double, {whole} from joined").fetchall()[
            0
        ]
        told[name] = Size(before, after, moved / size if size else float(moved > 0))
    return told


def _largest(measured: list[str]) -> list[str]:
    return ["", *(f'"b_{name}" as "{name} before", "a_{name}" as "{name} after"' for name in measured[:3])]


def _told(engine: duckdb.DuckDBPyConnection, sql: str) -> tuple[dict[str, Any], ...]:
    return tuple(pa.Table.to_pylist(engine.sql(sql).to_arrow_table()))


def _definition(old: View, new: View) -> str:
    """A view that is itself another one explains its difference."""
    return "" if old == new else "its own definition"


def used(view: View) -> set[str]:
    """The words in a view's expressions, among which are the columns of the facts that it needs."""
    if isinstance(view, Tally) and isinstance(view.of, Sessions):
        return used(view.of)
    said = [*keys(view), view.at]
    if isinstance(view, Tally | Sessions):
        said += [text for name, measure in view.measures.items() for text in measure.partials(name, view.at).values()]
    if isinstance(view, Latest):
        said += [*view.columns]
    # A function of a key's facts may look at any of their columns.
    where = view.of.where if not isinstance(view.of, Sessions) else ""
    return set(re.findall(r"\w+", " ".join([*said, where]))) if not isinstance(view, PerKey) else {"*"}
