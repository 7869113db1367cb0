"""Peers count the same whether they are given all days at once or some after others."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from penstock.ops import peers
from penstock.ops.bench.rebuild import fill


@pytest.fixture
def silver(tmp_path: Path) -> str:
    fill(str(tmp_path), 3_000, 0, days=4)
    return str(tmp_path)


def test_days_are_given_whole_each_once_and_as_many_as_there_is_room_for(silver: str) -> None:
    def days(most: int) -> list[int]:
        return [len({file.split("day=")[1][:10] for file in files}) for files in peers.spans(silver, most)]

    assert (days(10_000), days(1_600), days(1)) == ([4], [2, 2], [1, 1, 1, 1])
    given = [file for files in peers.spans(silver, 1) for file in files]
    assert sorted(given) == sorted(uri.removeprefix("file://") for uri in DeltaTable(silver).file_uris())


def test_both_count_the_same_in_spans(silver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "ROWS_AT_ONCE", 800)
    assert peers.asked(silver).equal


def test_a_peer_that_counts_otherwise_is_noticed(silver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "ROWS_AT_ONCE", 800)
    good = peers.in_polars
    monkeypatch.setattr(peers, "in_polars", lambda files: [rows.slice(1) for rows in good(files)])
    assert not peers.asked(silver).equal
