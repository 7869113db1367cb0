"""Reports: answers that take more than one question of a view. Each kind is a module; a domain's page declares them.

A kind is a function of what can be asked, the report's declaration and what was said; it gives rows and the
certificate of the view that they rest on.
"""

from collections.abc import Callable, Mapping

from penstock.model.page import Report
from penstock.serve.reports import enriched, funnel, goals, people, retention, unusual, uplift
from penstock.serve.reports.asking import Asking, Found

KINDS: Mapping[str, Callable[[Asking, Report], Found]] = {
    "enriched": enriched.found,
    "funnel": funnel.found,
    "goals": goals.found,
    "people": people.found,
    "retention": retention.found,
    "unusual": unusual.found,
    "uplift": uplift.found,
}
