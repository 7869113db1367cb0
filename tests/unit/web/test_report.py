"""The week's report, from a server over a lake of the simulated site."""

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from browser.lake import Lake, history
from browser.server import served

from domains.web.charts import PAGE
from penstock.ops.report import Asked, document

HOSTILE = {
    "type": "pageview", "site": "harbour.example", "url": "https://harbour.example/a",
    "country": "<script>alert(1)</script>", "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Firefox/143.0",
}  # fmt: skip


@pytest.fixture(scope="module")
def report() -> Iterator[str]:
    lake = Lake(history(days=14, total=2_000))
    now = datetime.now(UTC).isoformat()
    # So many that it leads its list.
    lake.add(*({**HOSTILE, "visitor": f"x{number}", "happened_at": now} for number in range(600)))
    with served(lake) as address:
        yield document(Asked(PAGE, "harbour.example", datetime.now(UTC), address))


def test_it_has_every_headline_and_each_first_list(report: str) -> None:
    said = [one.label for one in PAGE.headlines] + ["Pages", "Sources", "Countries", "Devices", "Scrolled"]
    assert [label for label in said if f">{label}</" not in report] == []


def test_its_chart_is_a_picture(report: str) -> None:
    (picture,) = re.findall(r"base64,([A-Za-z0-9+/=]+)", report)
    assert base64.b64decode(picture).startswith(b"\x89PNG")


def test_what_visitors_sent_is_text(report: str) -> None:
    assert "<script" not in report
    assert "&lt;script&gt;alert(1)" in report
