"""Rules: standing questions about single facts, and about the numbers of a view.

What matches is an alert, in the table and the topic of alerts.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.model.bucket import Bucket
from penstock.model.source import Facts
from penstock.model.view import Tally, View


class Misdeclared(ValueError):
    """A threshold that its view cannot answer; the message says why and what there is."""


@dataclass(frozen=True)
class Rule:
    """Facts that somebody wants to be told of; `of.where` is the condition. `shows`: the columns that an alert carries.

    A rule that is not armed can be tried over history (`penstock rules try`) and tells nobody. Whoever changes what a
    rule asks raises its version: alerts are of a rule, a version and a fact, and each is told once. One that is
    `urgent` is asked of the log itself as well, while silver does not have the fact yet: some hundredths of a second
    for a good part of a core.
    """

    name: str
    of: Facts
    shows: tuple[str, ...] = ()
    version: int = 1
    armed: bool = False
    doc: str = ""
    urgent: bool = False

    # A fact is in no bucket, and stands for nobody but itself.
    every: ClassVar[str] = ""
    by: ClassVar[tuple[str, ...]] = ()

    @property
    def about(self) -> str:
        """The source whose facts are asked."""
        return self.of.source.name

    @property
    def where(self) -> str:
        return self.of.where


@dataclass(frozen=True)
class Threshold:
    """Buckets of a view, `every` so wide and `by` these keys, whose numbers somebody wants to be told of.

    `where` is DuckDB's SQL over `bucket`, the keys and the view's measures, as people read them: "views > 1000".
    Arming, versions and `shows` are as a rule's; alerts are of a threshold, a version, a bucket and its keys.
    """

    name: str
    of: Tally
    every: str
    where: str
    by: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    version: int = 1
    armed: bool = False
    doc: str = ""

    # The log has no numbers of a bucket.
    urgent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.of, Tally):
            raise Misdeclared(
                f"{self.name}: {self.of.name} has rows by key, not numbers in time buckets. Say a tally of the domain."
            )
        width = Bucket.of(self.every)
        if width.months or not Bucket.of(self.of.every).divides(width):
            raise Misdeclared(
                f"{self.name}: {self.of.name} has buckets of {self.of.every}, and {self.every} is not so many of them. "
                "Say a width that is made of whole ones, up to weeks."
            )
        self._has("keys", self.by, self.of.by)
        self._has("columns", self.shows, self.columns)

    @property
    def about(self) -> str:
        """The view whose numbers are asked."""
        return self.of.name

    @property
    def columns(self) -> tuple[str, ...]:
        """What a condition may name."""
        return ("bucket", *self.by, *self.of.measures)

    @property
    def numbers(self) -> Tally:
        """The view with those measures alone that are named: to merge the sketches of others takes far longer.

        Under the threshold's own name, for whoever keeps answers by the view's.
        """
        said = " ".join((self.where, *self.shows)).lower()
        named = {name for name in self.of.measures if name.lower() in said}
        while more := {need for name in named for need in self.of.measures[name].needs} - named:
            named |= more
        measures = {name: measure for name, measure in self.of.measures.items() if name in named}
        return replace(self.of, name=self.name, measures=measures)

    def over(self, view: View) -> "Threshold":
        """The same question of the view as another release has it; refused where that cannot answer it."""
        return replace(self, of=view)  # type: ignore[arg-type]

    def _has(self, what: str, named: tuple[str, ...], there: tuple[str, ...]) -> None:
        if missing := [name for name in named if name not in there]:
            raise Misdeclared(
                f"{self.name}: {self.of.name} has no {what} {', '.join(missing)} here. "
                f"There are: {', '.join(there) or 'none'}."
            )


AnyRule = Rule | Threshold
