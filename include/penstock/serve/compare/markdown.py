"""A comparison as Markdown: for a review, and for the person who approves a switch."""

from collections.abc import Iterable, Iterator

from penstock.serve.compare.changes import Change, Size
from penstock.serve.compare.comparison import Comparison
from penstock.serve.compare.moves import Cause, Moves

MOST_DAYS = 10


def markdown(told: Comparison) -> str:
    return "\n".join(_lines(told)) + "\n"


def _lines(told: Comparison) -> Iterator[str]:
    yield f"# {told.domain}: {told.before} and {told.after}"
    yield ""
    yield "Both answer the same." if told.same else f"The largest change of any measure is {told.share():.3%}."
    if told.moving:
        days = ", ".join(map(str, told.moving))
        yield f"Left out of the views, for one release has facts of it that the other has not yet: {days}."
    for moves in told.sources:
        yield from _source(moves)
    for change in told.views:
        yield from _view(change)


def _source(moves: Moves) -> Iterator[str]:
    yield f"\n## Records of {moves.source}\n"
    yield f"{moves.moved:,} of {moves.compared:,} records are judged otherwise." + (
        f" {moves.ahead:,} more are in one release only, which is ahead of the other." if moves.ahead else ""
    )
    for what, columns in (("gone", moves.only_before), ("new", moves.only_after)):
        if columns:
            yield f"Columns that are {what}: {', '.join(columns)}."
    if moves.counts:
        yield from _table(("disposition", "records"), ((name, f"{count:,}") for name, count in moves.counts.items()))
    yield from _causes(moves.causes)


def _view(change: Change) -> Iterator[str]:
    yield f"\n## {change.view}\n"
    if change.same:
        yield f"The same: {change.rows:,} rows."
        return
    yield f"{change.added:,} rows added, {change.lost:,} lost, {change.changed:,} changed, of {change.rows:,}." + (
        f" Note: {change.note}." if change.note else ""
    )
    sizes = {name: size for name, size in change.measures.items() if size.share}
    yield from _table(("measure", "before", "after", "change"), (_size(name, size) for name, size in sizes.items()))
    days = [[str(value) for value in day.values()] for day in change.days[-MOST_DAYS:]]
    yield from _table(("day", "added", "lost", "changed"), days)
    if change.largest:
        yield from _table(change.largest[0], ([str(value) for value in row.values()] for row in change.largest))
    yield from _causes(change.causes)


def _size(name: str, size: Size) -> tuple[str, ...]:
    return name, f"{size.before:,.10g}", f"{size.after:,.10g}", f"{size.share:.3%}"


def _causes(causes: tuple[Cause, ...]) -> Iterator[str]:
    rows = (
        (each.name, f"{each.records:,}", f"{each.share:.1%}", "code" if each.of_code else "copies") for each in causes
    )
    yield from _table(("cause", "records", "share", "kind"), rows)


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    listed = [list(row) for row in rows]
    if listed:
        head = list(names)
        yield ""
        yield from (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *listed))
        yield ""
