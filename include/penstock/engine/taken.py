"""The facts of a source as a release has them that was made for one view: those of the release that it began from.

They keep their epochs, so views that were taken over as well go on from their own cuts.
"""

import time
from dataclasses import dataclass

from deltalake import DeltaTable

from penstock.engine import silver
from penstock.engine.arrived import asked
from penstock.engine.commit import create
from penstock.engine.replay import Told, seed
from penstock.engine.shape import Shape
from penstock.lake.taking import retake, take


@dataclass(frozen=True)
class Taken:
    """`base` is the release that they are taken from."""

    shape: Shape
    base: str

    def run(self) -> Told:
        """What it has by now; what was taken before stays as it is."""
        take(*self._paths)
        return self._told()

    def more(self) -> Told:
        """Everything once more, for somebody has spoken of records that came later. Views must then be built whole."""
        retake(*self._paths)
        return self._told()

    @property
    def _paths(self) -> tuple[str, str]:
        shape = self.shape
        return shape.layout.silver(self.base, shape.source.name), shape.place.table

    def _told(self) -> Told:
        begun = time.perf_counter()
        create(self.shape.place.table, silver.schema(self.shape.source), silver.INDEXED)
        seed(self.shape)
        counts = dict(asked(DeltaTable(self.shape.place.table), "select disposition, count(*) from rows group by all"))
        rows = sum(counts.values())
        return Told(self.shape.source.name, rows, rows, counts, time.perf_counter() - begun)
