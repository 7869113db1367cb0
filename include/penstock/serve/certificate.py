"""What a served number carries: as of when, up to which cut, how much of it is provisional, complete up to when."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from penstock.model.view import Latest, source_of
from penstock.serve.books import Books
from penstock.serve.question import EARLIEST, LATEST, Question
from penstock.serve.reader import Answer

# A stream says how it is every 5 s, and a change of shift takes 15: who is silent for longer may lag by anything.
SILENT = timedelta(seconds=45)


def certificate(answer: Answer, as_of: datetime, streams: list[dict[str, Any]], books: Books) -> dict[str, Any]:
    """`final`: nothing in the answer came after the cut, and nothing is on its way, or the days were declared final."""
    snapshot = answer.snapshot
    source = source_of(snapshot.view).name
    on_its_way = _waiting(_of(streams, source, snapshot.release), as_of)
    where = snapshot.release, source, *_range(answer.question)
    return {
        "as_of": as_of,
        "release": snapshot.release,
        "cut": {source: snapshot.cut} if snapshot.cut >= 0 else {},
        "built_at": snapshot.built_at or None,
        "epoch": snapshot.epoch,
        "facts": answer.facts,
        "rejected": books.rejected(*where),
        "complete_to": _complete_to(_of(streams, source, snapshot.release)),
        "in_flight": on_its_way,
        "final": answer.provisional == 0 and (on_its_way == 0 or books.final(*where)),
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


def _range(question: Question) -> tuple[datetime, datetime]:
    """Current rows are those of all time, whatever was asked."""
    return (EARLIEST, LATEST) if isinstance(question.view, Latest) else (question.start, question.end)


def _waiting(said: Mapping[str, Any], as_of: datetime) -> int | None:
    """Records that the log has and the view has not; None where no stream at work says."""
    if said.get("state") != "running" or as_of - datetime.fromisoformat(said["at"]) > SILENT:
        return None
    lag: int | None = said["lag_records"]
    # One that is level has taken all there was when it asked; readers have it, and nothing came since, where it rests.
    return lag if lag or said.get("rests") else None


def _complete_to(said: Mapping[str, Any]) -> datetime | None:
    """Everything that the log had taken by then is in the answer."""
    if not said.get("at") or said.get("lag_seconds") is None:
        return None
    return datetime.fromisoformat(said["at"]) - timedelta(seconds=said["lag_seconds"])
