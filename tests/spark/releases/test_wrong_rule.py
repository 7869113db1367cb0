"""The story: a wrong rule was shipped. Replay, compare, switch, revert, switch again, and everything is right."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toy_log import ToyLog, traffic

from penstock.engine.posting import post
from penstock.lake.audit import entries
from penstock.lake.ledger import booked
from penstock.lake.releases import PREVIOUS, Release
from penstock.lake.switching import switched
from penstock.model.domain import code, domains
from penstock.serve.compare.comparison import compare
from penstock.serve.reader import Reader
from penstock.settings import Settings

RIGHT, WRONG = 'F.col("event.who").isNull()', 'F.col("event.who").isNull() | (F.col("event.amount") > 70)'


def test_a_wrong_rule_is_found_undone_and_the_undoing_is_undone(
    log: ToyLog, replay: Callable[..., Release], changed: Callable[..., str], settings: Settings
) -> None:
    told = traffic(3, 120)
    with code(Path(changed("shapes.py", RIGHT, WRONG))):
        log.take(told[:60])
        log.take(told[60:])
    right = expected(told)
    assert counted(log, settings) != right["events"]

    replay(
        changed("views.py", "EVENTS_BY_WHAT, KITCHEN_SINK, SESSIONS, VISITS, NOW, IMPULSES", "EVENTS_BY_WHAT,"),
        views=True,
    )
    compared = compare(log.layout, settings.home, "toy", "r1", "r2")
    assert compared.sources[0].causes[0].name == "rule missing_who"
    assert not compared.within(1)

    seen = []
    for number, to in enumerate(("r2", PREVIOUS, "r2")):
        switched(log.layout, "toy", to, "lina", "the rule was wrong", "omar", f"switch/{number}")
        seen.append(counted(log, settings) == right["events"])
    assert seen == [True, False, True]

    for release in ("r1", "r2"):
        post(log.layout, domains()["toy"].sources, release)
    assert ledger(log, "r2") == {"archived": 120, **right["dispositions"]}
    assert sum(ledger(log, "r1").values()) == 240
    story = [
        (entry.what, entry.before.get("current"), entry.after.get("current")) for entry in reversed(entries(log.layout))
    ]
    assert story == [("replay", "r1", None), ("switch", "r1", "r2"), ("switch", "r2", "r1"), ("switch", "r1", "r2")]


def expected(told: list[dict[str, Any]]) -> dict[str, Any]:
    """What the records say by the right rules, told once more without any of our code."""
    seen: dict[str, bytes] = {}
    dispositions, events = Counter[str](), Counter[str]()
    for one in told:
        event = json.loads(one["value"]) if one["value"].endswith(b"}") else None
        if event is None or "who" not in event:
            dispositions["rejected"] += 1
        elif one["id"] in seen:
            dispositions["duplicates" if seen[one["id"]] == one["value"] else "rejected"] += 1
        else:
            seen[one["id"]] = one["value"]
            dispositions["facts"] += 1
            events[event["what"]] += 1
    return {"events": dict(events), "dispositions": dict(dispositions)}


def counted(log: ToyLog, settings: Settings) -> dict[str, int]:
    """What readers see: how often each thing was done."""
    reader = Reader(log.layout, home=settings.home)
    reader.refresh()
    rows = reader.table(reader.view("toy.events_by_what"))
    sums = Counter[str]()
    for row in rows.to_pylist() if rows else ():
        sums[row["what"]] += row["events"]
    return dict(sums)


def ledger(log: ToyLog, release: str) -> dict[str, int]:
    hours, _ = booked(log.layout.ledger(), release)
    return {
        name: sum(hour[name] for hour in hours.values()) for name in ("archived", "facts", "rejected", "duplicates")
    }
