"""What a repair does to a record, and what it leaves alone."""

import pytest

from penstock.lake.correcting import BadRepair, asked, corrected
from penstock.lake.repairs import Repair

CASES = {
    "renamed": (b'{"whom": "a"}', b'{"who": "a"}', "whom=who", "", ""),
    "not over a field that is there": (b'{"whom": "a", "who": "b"}', b'{"whom": "a", "who": "b"}', "whom=who", "", ""),
    "cast": (b'{"n": " 12 "}', b'{"n": 12}', "", "n=integer", ""),
    "cast to text": (b'{"n": [1]}', b'{"n": "[1]"}', "", "n=string", ""),
    "what cannot be cast stays": (b'{"n": "fast"}', b'{"n": "fast"}', "", "n=integer", ""),
    "given a default": (b'{"n": null}', b'{"n": 7, "site": "a.example"}', "", "", "n=7,site=a.example"),
    "renamed before it is cast": (b'{"m": "1"}', b'{"n": 1.0}', "m=n", "n=number", ""),
    "no JSON": (b"\xff{", b"\xff{", "a=b", "", "c=1"),
    "no object": (b"[1]", b"[1]", "a=b", "", "c=1"),
}


@pytest.mark.parametrize(("value", "expected", "rename", "cast", "default"), CASES.values(), ids=CASES)
def test_a_record_after_a_repair(value: bytes, expected: bytes, rename: str, cast: str, default: str) -> None:
    renames, casts, defaults = asked(rename, cast, default)
    assert corrected(value, Repair("p", "toy.events", rename=renames, cast=casts, default=defaults)) == expected


@pytest.mark.parametrize("wrong", [("whom", "", ""), ("", "n=decimal", ""), ("", "", "=1")])
def test_a_repair_that_makes_no_sense_is_refused(wrong: tuple[str, str, str]) -> None:
    with pytest.raises(BadRepair):
        asked(*wrong)
