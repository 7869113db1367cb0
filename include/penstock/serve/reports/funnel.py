"""How far visits come: each step with its share of all and of the step before."""

from itertools import pairwise

from penstock.model.page import Report
from penstock.serve.reports.asking import Asking, Found, Row


def found(asking: Asking, report: Report) -> Found:
    rows, answer = asking.rows(report.view)
    told = rows[0] if rows else {}
    counts = [int(told.get(name) or 0) for name in report.measures]
    return Found(steps([*report.measures.values()], counts), answer)


def steps(words: list[str], counts: list[int]) -> list[Row]:
    first = {"step": words[0], "count": counts[0], "of_all": 1.0 if counts[0] else None, "of_before": None}
    later = [
        {"step": word, "count": count, "of_all": _share(count, counts[0]), "of_before": _share(count, before)}
        for word, (before, count) in zip(words[1:], pairwise(counts), strict=True)
    ]
    return [first, *later]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
