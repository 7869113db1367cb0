"""The measures that a view may hold. One module a family; to add a measure, add a function here.

A measure is mergeable: its partials may be made of any partition of the facts and merged in any order.
"""

from penstock.model.measures.counts import count, mean, ratio, total
from penstock.model.measures.extremes import first, last, maximum, minimum
from penstock.model.measures.histograms import histogram
from penstock.model.measures.memberships import members
from penstock.model.measures.sets import exact_distinct
from penstock.model.measures.sketches import distinct, quantile, theta, top

__all__ = [
    "count",
    "distinct",
    "exact_distinct",
    "first",
    "histogram",
    "last",
    "maximum",
    "mean",
    "members",
    "minimum",
    "quantile",
    "ratio",
    "theta",
    "top",
    "total",
]
