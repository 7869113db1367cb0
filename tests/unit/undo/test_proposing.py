"""What a group of rejected records suggests: a rename, a cast, other code, or that nothing is guessed."""

import json
import shlex
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from penstock.lake.proposing import proposed
from penstock.lake.rejected import Group
from penstock.model.source import Field, Source
from penstock.ops.cli import application

NOW = datetime(2026, 3, 2, tzinfo=UTC)
SOURCE = Source(
    "shop.orders",
    key="visitor",
    fields=(
        Field("visitor"),
        Field("amount", "bigint"),
        Field("weight", "double"),
        Field("gift", "boolean"),
        Field("tags", "map<string,string>"),
        Field("url"),
    ),
    reasons=(),
)
CASES = {
    "one letter is wrong": ("missing_visitor", [{"vistor": "v1"}], "--rename vistor=visitor"),
    "another spelling": ("missing_visitor", [{"Visitor-ID": "v1"}], "--rename Visitor-ID=visitor"),
    "a word of it": ("missing_visitor", [{"visitorId": "v1", "amount": 1}], "--rename visitorId=visitor"),
    "a short word is none": ("missing_url", [{"curled": "x", "u": 1}], "no field looks like url"),
    "a known field is not taken": ("missing_weight", [{"weights": 1, "amount": 1}], "--rename weights=weight"),
    "two are alike": ("missing_visitor", [{"visitor1": "a", "visitor2": "b"}], "which one is it?"),
    "no default is guessed": ("missing_amount", [{"visitor": "v1"}], "a default is yours to know"),
    "a number as text": ("bad_amount", [{"amount": " 12 "}, {"amount": "7"}], "--cast amount=integer"),
    "a fraction as text": ("bad_weight", [{"weight": "1.5"}], "--cast weight=number"),
    "yes or no as text": ("bad_gift", [{"gift": "True"}], "--cast gift=boolean"),
    "milliseconds as text": ("bad_happened_at", [{"happened_at": "1772409600000"}], "--cast happened_at=integer"),
    "not of every example": ("bad_amount", [{"amount": "12"}, {"amount": "many"}], "no cast can read"),
    "a number that is too large": ("bad_amount", [{"amount": 10**12}], "no cast can read"),
    "text that says something else": ("bad_url", [{"url": "12"}], "no cast can read"),
    "a field of fields": ("bad_tags", [{"tags": {"a": 1}}], "no cast can read"),
    "no JSON": ("malformed", [], "penstock replay --domain shop --source shop.orders --code …"),
    "a newer kind": ("unknown_type", [{"type": "refund"}], "penstock replay --domain shop --source shop.orders"),
}


def group(reason: str, events: list[dict[str, object]]) -> Group:
    """As `groups` makes it of these records."""
    shape = json.dumps(dict.fromkeys(events[0], "VARCHAR")) if events else "no JSON"
    return Group(reason, shape, 9, NOW, NOW, [{"at": "0/1", "raw": json.dumps(event)} for event in events])


@pytest.mark.parametrize(("reason", "events", "said"), CASES.values(), ids=CASES)
def test_what_is_proposed(reason: str, events: list[dict[str, object]], said: str) -> None:
    assert said in str(proposed(SOURCE, group(reason, events)))


@pytest.mark.parametrize("reason", ["too_old", "in_future", "id_collision", "retracted", "erased"])
def test_what_no_repair_could_mend_has_no_proposal(reason: str) -> None:
    assert proposed(SOURCE, group(reason, [{"vistor": "v1"}])) is None


def test_a_proposed_repair_is_a_command_that_changes_nothing_yet() -> None:
    told = proposed(SOURCE, group("missing_visitor", [{"Visitor'ID": "v1"}]))
    assert told
    words = shlex.split(told.command)
    assert (words[:2], words[-1], told.rename) == (["penstock", "repair"], "--dry-run", {"Visitor'ID": "visitor"})
    asked = CliRunner().invoke(application(), [*words[1:-1], "--dry-run", "--help"])
    assert asked.exit_code == 0, asked.output
