"""Goals: how often each was reached, by how many visitors, and by what share of the site's visitors."""

from penstock.model.page import Report
from penstock.serve.reports.asking import Asking, Found


def found(asking: Asking, report: Report) -> Found:
    rows, answer = asking.rows(report.view, by=report.by[0], order="-visitors", limit="100")
    seen, _ = asking.rows(report.other)
    visitors = seen[0]["visitors"] if seen else 0
    goals = [{"goal": row[report.by[0]], "events": row["events"], "visitors": row["visitors"],
              "conversion": row["visitors"] / visitors if visitors else None} for row in rows]  # fmt: skip
    return Found(goals, answer, {"visitors": visitors})
