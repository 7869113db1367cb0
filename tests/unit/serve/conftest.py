"""The read API over a lake of the toy domain that only has speed tables: no JVM."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from penstock.lake.layout import Layout
from penstock.model.domain import domains
from penstock.settings import Settings

TESTS = Path(__file__).parents[2]
sys.path.insert(0, str(TESTS / "factories"))

from toy_lake import ToyLake  # noqa: E402


@pytest.fixture
def lake(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> ToyLake:
    monkeypatch.syspath_prepend(TESTS / "toy")
    domains.cache_clear()
    return ToyLake(None, Layout(settings.lake), domains()["toy"])


@pytest.fixture
def client(lake: ToyLake, settings: Settings) -> Iterator[TestClient]:
    from penstock.serve.access.identity import Access
    from penstock.serve.answers import Answers
    from penstock.serve.app import create_app
    from penstock.serve.reader import Reader

    app = create_app(Answers(settings, Reader(lake.layout)), Access(settings.home))
    # As a program on this machine asks.
    with TestClient(app, client=("127.0.0.1", 50_000), headers={"host": "127.0.0.1"}) as client:
        yield client
