"""Days that others wait for, built with the one that was asked for: one session, one look at each, one gate a view.

A gate refuses all days of a view at once. Then each is built by itself, so that only the bad one is missing.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta

from penstock.engine.build import Batch, Built
from penstock.engine.publish import Refused
from penstock.model.view import View

Judged = Callable[[bool], Batch]


def built(batch: Judged, views: Sequence[View], own: date, along: date) -> list[Built]:
    """The day, with all those up to `along`. `batch` is told whether a refusal is to be on record: of a day that was
    not asked for it is not, since whoever asks for it will hear.
    """
    try:
        return batch(False).build(views, days=(own, along))
    except Refused:
        # Where its own day is refused nothing else is built: whoever asked hears it now.
        done = batch(True).build(views, days=(own, own))
    for day in (own + timedelta(days=number) for number in range(1, (along - own).days + 1)):
        with suppress(Refused):
            done += batch(False).build(views, days=(day, day))
    return done
