"""The versions of a table as its log has them: a file each, with an action in each line."""

import json
from collections.abc import Iterator
from typing import Any

from penstock.lake.place import Place, place

Actions = list[dict[str, Any]]


def log_folder(table: str) -> Place:
    return place(table).below("_delta_log")


def version_file(version: int) -> str:
    return f"{version:020}.json"


def actions(log: Place, version: int) -> Actions:
    """What a version did. Raises FileNotFoundError where there is none."""
    return [json.loads(line) for line in log.read(version_file(version)).splitlines()]


def later(log: Place, version: int) -> Iterator[tuple[int, Actions]]:
    """The versions after one, as far as there are any."""
    while True:
        version += 1
        try:
            came = actions(log, version)
        except FileNotFoundError:
            return
        yield version, came


def redefines(actions: Actions) -> bool:
    """Whether the table itself is another by these: its columns, its settings, or what it asks of who uses it."""
    return any("metaData" in action or "protocol" in action for action in actions)
