"""The read API over a lake of the toy domain that only has speed tables: no JVM."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from toy_lake import ToyLake

from penstock.lake.layout import Layout
from penstock.model.domain import Domain
from penstock.settings import Settings


@pytest.fixture
def lake(settings: Settings, toy: Domain) -> ToyLake:
    return ToyLake(None, Layout(settings.lake), toy)


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
