"""A/B experiments: by how much each variant converts better than the first, and how sure that is."""

from itertools import groupby
from math import exp, log, sqrt
from typing import Any

from penstock.model.page import Report
from penstock.serve.reports.asking import Asking, Found, Row

# Half the width of a 95 % interval, in standard errors.
Z = 1.959964


def found(asking: Asking, report: Report) -> Found:
    experiment, variant = report.by
    rows, answer = asking.rows(report.view, by=",".join(report.by), order=",".join(report.by))
    by_experiment = groupby(rows, key=lambda row: row[experiment])
    compared = [
        {experiment: name, **against} for name, variants in by_experiment for against in compare([*variants], variant)
    ]
    return Found(compared, answer)


def compare(variants: list[Row], name: str) -> list[Row]:
    """Each variant against the first by name, which is the control."""
    control = variants[0]
    return [
        {
            name: one[name], "visitors": one["visitors"], "converted": one["converted"],
            "conversion": one["conversion"], **(uplift(control, one) if one is not control else {}),
        }
        for one in variants
    ]  # fmt: skip


def uplift(control: Row, variant: Row) -> dict[str, Any]:
    """The ratio of the two conversions less one, with Katz's interval of the logarithm of that ratio."""
    few = [one["converted"] for one in (control, variant)]
    if not all(few):
        return {"uplift": None, "low": None, "high": None, "sure": False}
    p, q = (one["converted"] / one["visitors"] for one in (control, variant))
    error = sqrt(_variance(control) + _variance(variant))
    low, high = (exp(log(q / p) + side * Z * error) - 1 for side in (-1, 1))
    return {"uplift": q / p - 1, "low": low, "high": high, "sure": low > 0 or high < 0}


def _variance(one: Row) -> float:
    # Two sketches may put converted a little above visitors; a variance is never below zero.
    return max(0.0, float(1 / one["converted"] - 1 / one["visitors"]))
