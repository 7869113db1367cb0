"""What rules have found, as the API tells it and pushes it: the newest alerts of one rule, or of all."""

import json
from collections.abc import Sequence
from typing import Any

from penstock.lake import alerts
from penstock.lake.following import Followed
from penstock.lake.layout import Layout
from penstock.model.domain import domains
from penstock.serve.problems import bad, unknown

ROWS, MOST_ROWS = 100, 1_000
PARAMETERS = ("rule", "limit")
# The alerts of all rules, to who subscribes to them.
ALERTS = "alerts"


class Matched:
    """Follows the alerts of one lake."""

    def __init__(self, layout: Layout) -> None:
        self._path = layout.alerts()
        self._table = Followed(self._path)
        self._seen = -1

    def refresh(self) -> set[str]:
        """The rules that may have found something since the last look: all of them (and their alerts), or none."""
        version = self._table.look()
        seen, self._seen = self._seen, version
        return {*rules(), ALERTS} if version != seen else set()

    def answer(self, said: Sequence[tuple[str, str]]) -> dict[str, Any]:
        for name, _ in said:
            if name not in PARAMETERS:
                raise bad(f"there is no parameter {name!r}", *PARAMETERS)
        given = dict(said)
        name, limit = given.get("rule", ""), limited(given.get("limit", str(ROWS)))
        if name and name not in rules():
            raise unknown("rule", name, rules())
        rows = alerts.latest(self._path, name, limit)
        return {"rows": [{**row, "fact": json.loads(row["fact"])} for row in rows]}


def rules() -> tuple[str, ...]:
    return tuple(rule.name for domain in domains().values() for rule in domain.rules)


def limited(text: str) -> int:
    """How many rows of the lake somebody wants to see."""
    if not (text.isascii() and text.isdigit()) or not 0 < int(text[:9]) <= MOST_ROWS:
        raise bad(f"limit={text!r} is not a number of records", f"1 to {MOST_ROWS}")
    return int(text)
