"""What a served number carries: as of when, up to which cut, how much of it is provisional, complete up to when."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from penstock.model.view import source_of
from penstock.serve.reader import Answer


def certificate(answer: Answer, as_of: datetime, streams: list[dict[str, Any]]) -> dict[str, Any]:
    """`final`: nothing in the answer came after the cut, and nothing that was accepted is still on its way."""
    snapshot = answer.snapshot
    source = source_of(snapshot.view).name
    on_its_way = _waiting(streams, source, snapshot.release)
    return {
        "as_of": as_of,
        "release": snapshot.release,
        "cut": {source: snapshot.cut} if snapshot.cut >= 0 else {},
        "built_at": snapshot.built_at or None,
        "epoch": snapshot.epoch,
        "facts": answer.facts,
        "complete_to": _complete_to(streams, source, snapshot.release),
        "in_flight": on_its_way,
        "final": answer.provisional == 0 and not on_its_way,
        "provisional_rows": answer.provisional,
    }


def streams(home: Path) -> list[dict[str, Any]]:
    """What each stream last said of itself. A file that is half there says nothing."""
    said = []
    for file in sorted((home / "run" / "streams").glob("*.json")):
        try:
            said.append(json.loads(file.read_text()))
        except (OSError, ValueError):
            continue
    return said


def _of(streams: list[dict[str, Any]], source: str, release: str) -> Mapping[str, Any]:
    return next((one for one in streams if one["job"] == f"shape-{source}" and one["release"] == release), {})


def _waiting(streams: list[dict[str, Any]], source: str, release: str) -> int | None:
    """Records that the log has and the view has not; None where no stream has said."""
    return _of(streams, source, release).get("lag_records")


def _complete_to(streams: list[dict[str, Any]], source: str, release: str) -> datetime | None:
    """Everything that the log had taken by then is in the answer."""
    said = _of(streams, source, release)
    if not said.get("at") or said.get("lag_seconds") is None:
        return None
    return datetime.fromisoformat(said["at"]) - timedelta(seconds=said["lag_seconds"])
