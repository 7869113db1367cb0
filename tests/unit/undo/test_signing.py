"""How a job that somebody signed ends, and what the audit has of it."""

import pytest

from penstock.engine.signing import REFUSED, book, signed, status
from penstock.lake.audit import entries
from penstock.lake.layout import Layout
from penstock.settings import Settings


def refuse() -> str:
    raise LookupError("there is no such table")


@pytest.mark.parametrize(("work", "ended"), [(lambda: "3 rows", (0, "3 rows\n", "")), (refuse, (REFUSED, "", "there"))])
def test_a_job_says_what_it_did_or_why_it_was_refused(
    work: object, ended: tuple[int, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    told = status(work, LookupError)  # type: ignore[arg-type]
    said = capsys.readouterr()
    assert (told, said.out, said.err[:5]) == ended


def test_a_failure_is_no_refusal() -> None:
    with pytest.raises(LookupError):
        status(refuse, ValueError)


def test_the_audit_has_who_signed(settings: Settings) -> None:
    asked = signed("A job.").parse_args(["--operation=x/1", "--who=lina", "--why=it broke", "--approved-by=omar"])
    for _ in range(2):
        book(Layout(settings.lake), asked, "restate", "toy.events", {}, {"records": 3})
    (entry,) = entries(Layout(settings.lake))
    assert (entry.what, entry.who, entry.why, entry.approved_by) == ("restate", "lina", "it broke", "omar")
