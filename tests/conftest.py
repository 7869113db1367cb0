"""What tests share: one Spark session, one broker, one set of paths a test."""

import atexit
import os
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from serving import serving
from toy_code import TOY
from xdist.scheduler import LoadScopeScheduling

from penstock.log.topics import ensure_named
from penstock.model.domain import Domain, domains, forget
from penstock.ops.stack.trial import free_port
from penstock.refusal import Refusal
from penstock.settings import Settings


def pytest_unconfigure() -> None:
    """The summary is the last line: what libraries say of each other while the interpreter ends is not for readers."""
    # At exit, because pytest itself gives standard error back after this.
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))


# How the refusal of penstock.ops.load.browser begins.
NO_BROWSER = "There is no Chromium"


def browserless() -> Generator[None, None, None]:
    """A machine without a browser is no fault of the product, but one that decides what is merged must have one."""
    try:
        yield
    except Refusal as refusal:
        if not str(refusal).startswith(NO_BROWSER) or os.environ.get("CI"):
            raise
        pytest.skip(str(refusal))


# Of the fixture that opens the browser, or of the test that does.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    yield from browserless()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    yield from browserless()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.getreports("skipped")
    if left := sum(NO_BROWSER in str(report.longrepr) for report in skipped):
        told = f"NOT RUN: {left} tests in a browser. {NO_BROWSER} here: apt-get install chromium"
        terminalreporter.write_sep("!", told, red=True, bold=True)


def together(nodeid: str) -> str:
    """What one worker of a parallel run (`make test`) runs alone, because workers share nothing: the tests of the one
    stack, and those of the one Spark session. These begin first; the rest goes file by file, the longer ones before."""
    file = nodeid.partition("::")[0]
    for folder in ("stack", "spark"):
        if file.startswith(f"tests/{folder}/"):
            return f"1 {folder}"
    return f"{2 if file.startswith(('tests/faults/', 'tests/system/')) else 3} {file}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    # Not by xdist's own marks: they are written into a test's node id, which pytest 9.2 does not let them.
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = together
    return scheduler


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: together(item.nodeid)[0])


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The bootstrap address of a real broker that lives as long as the run."""
    with serving(tmp_path_factory.mktemp("broker")) as address:
        yield address


@pytest.fixture
def topic(broker: str) -> str:
    """A fresh topic of two partitions."""
    name = f"test.{uuid.uuid4().hex[:8]}"
    ensure_named(broker, name, 2)
    return name


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an empty home of this test's own; no broker is behind its Kafka address."""
    return Settings(home=tmp_path, lake=str(tmp_path / "lake"), kafka=f"127.0.0.1:{free_port()}", compiler="quick")


@pytest.fixture
def toy() -> Iterator[Domain]:
    """The toy domain, found as any domain is: in a folder on the path."""
    with pytest.MonkeyPatch.context() as path:
        path.syspath_prepend(TOY)
        forget()
        yield domains()["toy"]
    # Who comes next, or is a thread that outlives its test, finds what is on the path by now.
    forget()
    domains()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """The one Spark session of the run, opened as the product opens it for a short job: each test has its own plans.

    They are interpreted. To generate and compile code for each, which then sees ten rows, took a sixth of the session's
    time; stacks and killed drivers run compiled plans, as everybody does.
    """
    from penstock.lake.session import open_session

    home = tmp_path_factory.mktemp("spark")
    interpreted = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    settings = Settings(home=home, lake=str(home / "lake"), kafka="")
    session = open_session(settings, "tests", short=True, **interpreted)
    yield session
    session.stop()
