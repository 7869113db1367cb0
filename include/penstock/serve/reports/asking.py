"""What a report may ask: views as anybody asks them, and what is behind their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from penstock.model.view import Sessions, Tally
from penstock.serve.encode import rows_of
from penstock.serve.question import EARLIEST, LATEST, Question, ask, keys
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
        self._reader = reader
        self._said = [pair for pair in said if pair[0] in ("from", "to", "tz", "where")]
        self.now = now
        self.asked = self.question(view)
        self.zone = ZoneInfo(self.asked.zone)

    def question(self, view: str, **said: str) -> Question:
        """A question of a view within the report's; what is said here wins. Filters that it has not are left out."""
        named = self._reader.view(view)
        given = [pair for pair in self._said if pair[0] not in said and _fits(pair, keys(named))]
        return ask(named, [*given, *said.items()], self.now)

    def rows(self, view: str, **said: str) -> tuple[list[Row], Answer]:
        question = self.question(view, **said)
        answer = self._reader.answer(question)
        return rows_of(answer.rows, question.zone), answer

    def sets(self, view: str, measure: str, **said: str) -> tuple[list[Row], Answer]:
        """The merged sketches themselves, not their estimates."""
        question = self.question(view, **said)
        tally = question.view
        assert isinstance(tally, Tally)
        sketch = tally.measures[measure]
        shown = replace(sketch, show="{" + sketch.parts[0].suffix + "}")
        bare = replace(question, view=replace(tally, measures={measure: shown}))
        answer = self._reader.answer(bare, self._reader.snapshot(tally))
        return rows_of(answer.rows, question.zone), answer

    def sessions(self, view: str) -> tuple[pa.Table, Answer]:
        """Every session of the range, as keys and times alone."""
        question = self.question(view)
        sessions = question.view
        assert isinstance(sessions, Sessions)
        bare = replace(question, view=replace(sessions, measures={}), limit=ALL_ROWS)
        answer = self._reader.answer(bare, self._reader.snapshot(sessions))
        return answer.rows, answer

    def everything(self, view: str) -> pa.Table:
        """All rows of a view, of all time."""
        named = self._reader.view(view)
        return self._reader.answer(Question(named, EARLIEST, LATEST, limit=ALL_ROWS)).rows


def _fits(pair: tuple[str, str], names: Sequence[str]) -> bool:
    return pair[0] != "where" or pair[1].partition(":")[0] in names
