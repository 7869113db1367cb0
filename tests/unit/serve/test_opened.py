"""Open rows are folded as they come, and nothing that a reader sees changes by it."""

import pytest
from deltalake import DeltaTable
from toy_lake import ToyLake, traffic

from penstock.serve import opened
from penstock.serve.reader import Reader

QUESTIONS = (
    ("toy.events_by_what", {"by": "what", "every": "1 hour"}),
    ("toy.everything", {}),
    ("toy.visits", {"by": "entry"}),
)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_folded_answers_as_what_is_not(lake: ToyLake, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    facts, following = traffic(seed, 60), Reader(lake.layout)
    monkeypatch.setattr(opened, "FEW", 5)
    for number in range(0, 60, 4):
        lake.epoch(facts[number : number + 4])
        following.refresh()
    monkeypatch.setattr(opened, "FEW", 10_000)
    for view, said in QUESTIONS:
        folded, plain = lake.answer(view, following, **said), lake.answer(view, **said)
        assert (folded.rows.to_pylist(), folded.facts) == (plain.rows.to_pylist(), plain.facts)
        assert folded.snapshot.epoch == plain.snapshot.epoch


def test_folded_rows_survive_compaction_and_lose_what_is_taken_away(
    lake: ToyLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "FEW", 0)
    following = Reader(lake.layout)
    speed = lake.layout.speed("r1", "toy.events_by_what")
    counts = []
    for facts in (traffic(1, 8), traffic(2, 8)):
        lake.epoch(facts)
        following.refresh()
        counts.append(lake.answer("toy.events_by_what", following).facts)
    DeltaTable(speed).optimize.compact()
    following.refresh()
    counts.append(lake.answer("toy.events_by_what", following).facts)
    DeltaTable(speed).delete("epoch = 1")
    following.refresh()
    counts.append(lake.answer("toy.events_by_what", following).facts)
    assert following.problems == {}
    assert counts == [8, 16, 16, 8]
