"""A sender breaks: from the first alert to green, with the product's own generator, as who is on call lives it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest
from operators import SECONDS, SOURCE, VIEW, Operator
from receivers import on_call
from standing import RunningStack, eventually

from penstock.ops.demo.stages import dag_runs
from penstock.settings import Settings

pytestmark = pytest.mark.skipif(not os.environ.get("PENSTOCK_FULL"), reason="a quarter of an hour: make faults")

# Enough for a share to say something, and soon sent.
RATE = 500
# As `make demo WRONG=0.05`.
WRONG = 0.05

Pager = list[dict[str, Any]]


@pytest.fixture
def operator(stack: RunningStack) -> Operator:
    return Operator(stack)


@pytest.fixture
def pager(operator: Operator) -> Iterator[Pager]:
    """Who hears of everything that is more than information."""
    with on_call(operator.stack.home, "critical,warning") as heard:
        yield heard


@pytest.fixture
def generator(operator: Operator) -> Callable[[float, float], None]:
    """The demo's own traffic for some seconds with a share of wrong events, until all of it has its disposition."""

    def send(seconds: float, wrong: float) -> None:
        before, collector = operator.disposed(), operator.stack.url("collector", "")
        words = ["-m", "domains.web.feed", "--collector", collector, "--rate", str(RATE), "--for", str(seconds)]
        said = subprocess.check_output([sys.executable, *words, "--wrong", str(wrong)], env=operator.stack.environ)
        assert eventually(lambda: operator.disposed() >= before + int(said.split()[1]), SECONDS)

    return send


def certificate(operator: Operator) -> dict[str, Any]:
    """What the console shows beside a number."""
    with urlopen(operator.stack.url("serve", f"/api/views/{VIEW}?limit=1"), timeout=60) as answer:  # noqa: S310
        told: dict[str, Any] = json.loads(answer.read())["certificate"]
    return told


def call(pager: Pager, *words: str) -> str:
    """The message that says all of it, once it has come."""
    found: list[str] = []

    def came() -> bool:
        said = [f"{one['title']}\n{one['message']}" for one in list(pager)]
        found.extend(one for one in said if all(word in one for word in words))
        return bool(found)

    assert eventually(came, SECONDS), f"nobody heard {words}, but {[one['title'] for one in pager]}"
    return found[0]


def runbook(operator: Operator, message: str) -> str:
    """The page that a message links, as who is logged in reads it."""
    (address,) = re.findall(r"Runbook: (\S+)", message)
    page = Request(address, headers={"Authorization": f"Bearer {operator.token}"})  # noqa: S310
    with urlopen(page, timeout=60) as answer:  # noqa: S310
        return str(answer.read().decode())


@pytest.mark.timeout(2400)
def test_a_sender_breaks_and_on_call_brings_it_to_green(
    operator: Operator, pager: Pager, generator: Callable[[float, float], None]
) -> None:
    generator(3, 0.0)
    assert operator.ended(operator.build()) == "success"
    good = certificate(operator)
    assert good["final"]

    generator(20, WRONG)
    warned = call(pager, f"{SOURCE}: many rejected", "bad_url")
    refused = operator.build()
    assert operator.ended(refused) == "failed"
    called = call(pager, "build_views: DataRefused", f"A sender of {SOURCE} broke")
    broken = certificate(operator)
    assert (broken["built_at"], broken["cut"], broken["final"]) == (good["built_at"], good["cut"], False)

    assert "penstock rejected" in runbook(operator, warned)
    assert "many_rejected" in runbook(operator, called)
    causes = json.loads(operator.stack.penstock("rejected", "--source", SOURCE, "--json").stdout)
    assert {group["reason"] for group in causes} >= {"bad_url", "unknown_type", "missing_site"}

    # What has an obvious value is repaired, the sender is mended, and what nobody can read is accepted as lost.
    form = [
        "--source",
        SOURCE,
        "--reason",
        "missing_site",
        "--default",
        "site=mended.example",
        "--why",
        "a new release",
    ]
    repaired = operator.stack.penstock("repair", *form, "--yes", timeout=SECONDS)
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr
    # So much of it that the last five minutes are those of a sound sender again.
    generator(20, 0.0)
    assert operator.ended(operator.build(accept=True)) == "success"

    mended = certificate(operator)
    assert (mended["final"], mended["built_at"] > good["built_at"]) == (True, True)
    call(pager, "[recovered] build_views")
    call(pager, f"[recovered] {SOURCE}: many rejected")
    assert eventually(lambda: green(operator), SECONDS)


def green(operator: Operator) -> bool:
    """No DAG's last run failed, and the ledger adds up."""
    _, ended = dag_runs(Settings.from_env(operator.stack.environ))
    latest = {run["dag_id"]: run["state"] for run in reversed(ended)}
    return "failed" not in latest.values() and operator.stack.penstock("ledger").returncode == 0
