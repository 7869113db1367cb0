"""What a report may ask: views as anybody asks them, and what is behind their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from penstock.lake.publication import open_table
from penstock.model.domain import source
from penstock.model.source import Source
from penstock.model.view import Sessions, Tally, keys, source_of
from penstock.serve.encode import rows_of
from penstock.serve.question import EARLIEST, LATEST, Question, ask
from penstock.serve.reader import ALL_ROWS, Answer, Reader

Row = dict[str, Any]
Said = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Found:
    """A report's rows, the answer whose certificate they carry, and numbers of the whole."""

    rows: list[Row]
    answer: Answer
    whole: Mapping[str, Any] = field(default_factory=dict)


class Asking:
    """One report's questions, all within the same range, zone and filters."""

    def __init__(self, reader: Reader, view: str, said: Said, now: datetime) -> None:
        # A switch between two of the report's questions must not mix two releases.
        self._reader, self._standing = reader, reader.standing
        self._said = [pair for pair in said if pair[0] in ("from", "to", "tz", "where")]
        self.now = now
        self.asked = self.question(view)
        self.zone = ZoneInfo(self.asked.zone)

    def question(self, view: str, **said: str) -> Question:
        """A question of a view within the report's; what is said here wins. Filters that it has not are left out."""
        named = self._reader.view(view, self._standing)
        given = [pair for pair in self._said if pair[0] not in said and _fits(pair, keys(named))]
        return ask(named, [*given, *said.items()], self.now)

    def rows(self, view: str, **said: str) -> tuple[list[Row], Answer]:
        question = self.question(view, **said)
        answer = self._reader.answer(question, self._reader.snapshot(question.view, self._standing))
        return rows_of(answer.rows, question.zone), answer

    def sets(self, view: str, measure: str, **said: str) -> tuple[list[Row], Answer]:
        """The merged sketches themselves, not their estimates."""
        question = self.question(view, **said)
        tally = question.view
        assert isinstance(tally, Tally)
        sketch = tally.measures[measure]
        shown = replace(sketch, show="{" + sketch.parts[0].suffix + "}")
        bare = replace(question, view=replace(tally, measures={measure: shown}))
        answer = self._reader.answer(bare, self._reader.snapshot(tally, self._standing))
        return rows_of(answer.rows, question.zone), answer

    def sessions(self, view: str) -> tuple[pa.Table, Answer]:
        """Every session of the range, as keys and times alone."""
        question = self.question(view)
        sessions = question.view
        assert isinstance(sessions, Sessions)
        bare = replace(question, view=replace(sessions, measures={}), limit=ALL_ROWS)
        answer = self._reader.answer(bare, self._reader.snapshot(sessions, self._standing))
        return answer.rows, answer

    def facts(self, view: Tally, other: str, sql: str, parameters: Sequence[Any]) -> list[Row]:
        """A question of the facts themselves, `facts` of the view's source and `profiles` of another."""
        release = self._standing.release(view.name.partition(".")[0])
        names = {"facts": source_of(view).name, "profiles": other}
        tables = {name: open_table(self._reader.layout.silver(release, source)) for name, source in names.items()}
        if tables["facts"] is None:
            return []
        within = (pc.field("day") >= self.asked.start.date()) & (pc.field("day") <= self.asked.end.date())
        relations = {
            "facts": tables["facts"].to_pyarrow_dataset().filter(within),
            "profiles": tables["profiles"].to_pyarrow_dataset() if tables["profiles"] else _nothing(source(other)),
        }
        return list(self._reader.engine.table(sql, relations, parameters).to_pylist())

    def everything(self, view: str) -> pa.Table:
        """All rows of a view, of all time."""
        named = self._reader.view(view, self._standing)
        return self._reader.answer(Question(named, EARLIEST, LATEST, limit=ALL_ROWS)).rows


def _nothing(asked: Source) -> pa.Table:
    """A source that has never had a record."""
    columns = [pa.field(one.name, pa.string()) for one in asked.fields if one.type == "string"]
    common = [pa.field("event_id", pa.string()), pa.field("happened_at", pa.timestamp("us", "UTC"))]
    return pa.schema([*columns, *common, pa.field("disposition", pa.string())]).empty_table()


def _fits(pair: tuple[str, str], names: Sequence[str]) -> bool:
    return pair[0] != "where" or pair[1].partition(":")[0] in names
