"""What a verdict says to a person."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.lake.gates import Checked, checks, record, refusals
from penstock.lake.layout import Layout

NINE = datetime(2026, 11, 18, 9, tzinfo=UTC)
FAILED = [{"expectation": "values_to_not_be_null(column=site)", "severity": "critical", "raised": ""}]


def checked(passed: bool, at: datetime = NINE) -> Checked:
    sample = json.dumps([{"site": None, "visitor": "•••"}])
    failed = json.dumps(FAILED)
    why = "" if passed else "toy.v fails values_to_not_be_null(column=site)"
    rows = ("/lake/candidate/r1/toy.v", "(site is null)")
    return Checked(at, "toy.v", "r1", passed, "critical", why, *rows, failed, sample, "[]", 1.0)


@pytest.mark.parametrize(
    "said",
    [
        "Readers keep the last good numbers",
        "values_to_not_be_null(column=site) (critical)",
        '{"site": null, "visitor": "•••"}',
        "in /lake/candidate/r1/toy.v: penstock sql 'select * from refused_r1_toy_v where (site is null)'",
    ],
)
def test_a_refusal_says_what_failed_which_rows_and_what_is_safe(said: str) -> None:
    assert said in checked(False).text()


def test_a_warning_does_not_claim_that_nothing_was_published() -> None:
    assert "was published" in checked(True).text()


def test_verdicts_are_read_newest_first_and_since_a_time(tmp_path: Path) -> None:
    for hour, passed in ((8, False), (9, True), (10, False)):
        record(Layout(str(tmp_path)), checked(passed, NINE.replace(hour=hour)))
    assert [one.at.hour for one in checks(str(tmp_path), NINE)] == [10, 9]
    assert [one.at.hour for one in refusals(str(tmp_path), NINE)] == [10]
