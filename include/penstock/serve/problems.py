"""What went wrong with a question, as RFC 9457 problem documents: each says what is allowed."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)


@dataclass
class Problem(Exception):
    """`status` and `title` name the kind; `detail` is for the person who asked; `allowed` lists what would work."""

    status: int
    title: str
    detail: str
    allowed: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        said = {"type": "about:blank", "status": self.status, "title": self.title, "detail": self.detail}
        return {**said, "allowed": list(self.allowed)} if self.allowed else said


def bad(detail: str, *allowed: str) -> Problem:
    return Problem(400, "The question cannot be answered as asked", detail, allowed)


def unknown(what: str, name: str, known: tuple[str, ...]) -> Problem:
    return Problem(404, f"There is no such {what}", f"there is no {what} {name!r}", tuple(sorted(known)))


def too_large(detail: str) -> Problem:
    return Problem(422, "The answer would be too large", detail)


def too_slow(seconds: float) -> Problem:
    return Problem(
        503, "The question took too long", f"stopped after {seconds:g} s; ask for a shorter range or fewer keys"
    )


def fault(error: Exception) -> Problem:
    return Problem(500, "A fault of ours", f"{type(error).__name__}; it is in the log")


def or_problem(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """One part of an answer; where it cannot be made, `problem` says why, and the other parts are told."""
    try:
        return make()
    except Problem as problem:
        return {"problem": problem.document()}
    except Exception as error:
        log.exception("a part of an answer could not be made")
        return {"problem": fault(error).document()}
