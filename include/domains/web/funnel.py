"""The funnel of the site: which steps there are, in order. Another site writes its own steps here."""

from dataclasses import replace
from itertools import pairwise

from penstock.model.measure import Measure
from penstock.model.measures import count, minimum

# What people read, and which facts are the step.
STEPS = (
    ("Looked at a boat", "type = 'pageview' and page like '/boats%'"),
    ("Opened the booking", "type = 'pageview' and page = '/book'"),
    ("Booked", "type = 'event' and name = 'booking'"),
)
NAMES = tuple(f"step_{number}" for number in range(1, len(STEPS) + 1))
LAST = NAMES[-1]
DOC = (
    "How far sessions came, at the time they started. A session came to a step if it first did it not before it "
    "first did the step before."
)


def moments() -> dict[str, Measure]:
    """When a session first did each step: the earliest time merges whatever order facts come in."""
    return {
        name: replace(minimum(f"case when {facts} then happened_at end"), doc=f"When it first: {words}.")
        for name, (words, facts) in zip(NAMES, STEPS, strict=True)
    }


def reached() -> dict[str, Measure]:
    """How many sessions came to each step."""
    return {
        name: replace(count(_in_order(NAMES[: number + 1])), doc=f"Sessions that came to: {STEPS[number][0]}.")
        for number, name in enumerate(NAMES)
    }


def _in_order(steps: tuple[str, ...]) -> str:
    before = [f"{later} >= {earlier}" for earlier, later in pairwise(steps)]
    return " and ".join([f"{steps[0]} is not null", *before])
