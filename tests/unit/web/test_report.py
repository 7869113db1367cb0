"""The week's report, from a server over a lake of the simulated site."""

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from browser.lake import Lake, history
from browser.server import served
from browser.test_console import pageview

from domains.web.charts import PAGE
from penstock.ops.report import Asked, document
from penstock.serve.drawing import KINDS

HOSTILE = {
    "type": "pageview", "site": "harbour.example", "url": "https://harbour.example/a",
    "country": "<script>alert(1)</script>", "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Firefox/143.0",
}  # fmt: skip


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    lake = Lake(history(days=14, total=2_000))
    now = datetime.now(UTC).isoformat()
    # So many that it leads its list.
    lake.add(*({**HOSTILE, "visitor": f"x{number}", "happened_at": now} for number in range(600)))
    with served(lake) as address:
        yield address


@pytest.fixture(scope="module")
def report(address: str) -> str:
    return document(Asked("web", PAGE, "harbour.example", datetime.now(UTC), address))


def test_it_has_every_headline_and_each_first_list(report: str) -> None:
    said = [one.label for one in PAGE.headlines] + ["Pages", "Sources", "Campaigns", "Countries", "Devices", "Scrolled"]
    assert [label for label in said if f">{label}</" not in report] == []


def test_it_is_final_only_when_each_of_its_numbers_is() -> None:
    lake = Lake()
    lake.add(pageview())
    lake.build("web.pageviews")
    with served(lake) as address:
        told = document(Asked("web", PAGE, "harbour.example", datetime.now(UTC), address))
        assert httpx.get(f"{address}/api/views/web.pageviews").json()["certificate"]["final"]
    assert re.search(r"Provisional: newer facts are still added. As of [-0-9: ]+ UTC, release r1", told)


def test_its_chart_is_a_picture(report: str) -> None:
    (picture,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", report)
    assert base64.b64decode(picture).startswith(b"\x89PNG")


def test_what_visitors_sent_is_text(report: str) -> None:
    assert "<script" not in report
    assert "&lt;script&gt;alert(1)" in report


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_the_chart_is_drawn_for_an_alert(address: str, kind: str, begins: bytes) -> None:
    answer = httpx.get(f"{address}/api/charts/web/{kind}", timeout=60)
    assert (answer.headers["content-type"], answer.content[: len(begins)]) == (KINDS[kind], begins)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("web/gif", 404), ("trees/png", 404), ("web/png?to=yesterday", 400), ("web/png?to=0001-01-01T00:00:00Z", 400),
        ("web/png?every=1+day", 400), ("web/png?where=site", 400),
    ],
)  # fmt: skip
def test_a_picture_that_there_is_not_is_refused(address: str, path: str, status: int) -> None:
    assert httpx.get(f"{address}/api/charts/{path}", timeout=60).status_code == status
