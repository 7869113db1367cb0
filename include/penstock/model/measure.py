"""A measure: how a number is made of facts (partial), joined (merge) and shown (present)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """Placeholder until the algebra lands: see model/measures/."""
