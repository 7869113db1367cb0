"""A server is ready when it has read what its pages open on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from factories.web_lake import NOW, WebLake

from domains.web.charts import PAGE
from penstock.lake.layout import Layout
from penstock.serve.engine import Stop
from penstock.serve.question import Question
from penstock.serve.reader import Answer, Reader
from penstock.serve.snapshot import Snapshot
from penstock.serve.warm import warm


class Listening(Reader):
    """Remembers which views were asked, and cannot read one of them."""

    asked: list[tuple[str, int]]

    def answer(self, question: Question, snapshot: Snapshot | None = None, stop: Stop | None = None) -> Answer:
        self.asked.append((question.view.name, (question.end - question.start).days))
        if question.view.name == "web.bots":
            raise OSError("a file is gone")
        return super().answer(question, snapshot, stop)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Listening]:
    lake = WebLake(Layout(str(tmp_path / "lake")), only=("web.pageviews",))
    url, told = "https://a.example/x", {"type": "pageview", "site": "a.example", "visitor": "v1"}
    lake.tell([{**told, "url": url, "happened_at": NOW}])
    listening = Listening(lake.layout)
    listening.asked = []
    yield listening
    listening.engine.close()


def test_every_list_is_asked_over_all_that_the_ranges_show_although_one_cannot_be_read(reader: Listening) -> None:
    warm(reader, seconds=600)
    of_lists = {(one.view, days) for one in PAGE.lists for days in (14, 60, 180)}
    assert of_lists <= {*reader.asked}


def test_a_start_waits_for_so_long_and_not_longer(reader: Listening) -> None:
    warm(reader, seconds=-1)
    assert reader.asked == []
