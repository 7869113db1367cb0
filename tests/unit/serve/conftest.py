"""The read API over a lake of the toy domain that only has speed tables: no JVM."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient
from toy_lake import ToyLake

from penstock.lake.layout import Layout
from penstock.model.domain import Domain
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.serve.reader import Reader


@pytest.fixture
def lake(settings: Settings, toy: Domain) -> ToyLake:
    return ToyLake(None, Layout(settings.lake), toy)


@pytest.fixture
def reader(lake: ToyLake) -> "Reader":
    from penstock.serve.reader import Reader

    return Reader(lake.layout)


@pytest.fixture
def app(reader: "Reader", settings: Settings) -> Starlette:
    from penstock.serve.access.identity import Access
    from penstock.serve.answers import Answers
    from penstock.serve.app import create_app

    return create_app(Answers(settings, reader), Access(settings.home))


@pytest.fixture
def client(app: Starlette) -> Iterator[TestClient]:
    # As a program on this machine asks.
    with TestClient(app, client=("127.0.0.1", 50_000), headers={"host": "127.0.0.1"}) as client:
        yield client


@pytest.fixture
def port(app: Starlette) -> Iterator[int]:
    """Where a real server answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield port
    server.should_exit = True
    thread.join()
