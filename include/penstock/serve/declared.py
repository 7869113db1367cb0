"""What the domains declare to be shown, found as the domains are: `charts.py` with a `PAGE`."""

import importlib
import importlib.util
import json
from functools import cache
from typing import Any

from penstock.model.domain import domains
from penstock.model.page import Page, Report
from penstock.serve.problems import unknown


@cache
def pages() -> dict[str, Page]:
    """Each domain's page; a domain without charts is not in the console."""
    return {
        name: importlib.import_module(f"domains.{name}.charts").PAGE
        for name in domains()
        if importlib.util.find_spec(f"domains.{name}.charts")
    }


@cache
def document() -> dict[str, Any]:
    """The pages as plain JSON."""
    told = [
        {
            "name": name,
            **page.document(),
            "rules": rules(name),
            "sources": [each.name for each in domains()[name].sources],
        }
        for name, page in pages().items()
    ]
    return dict(json.loads(json.dumps({"domains": told})))


def rules(domain: str) -> list[dict[str, Any]]:
    """The standing questions of a domain."""
    return [
        {
            "name": rule.name, "doc": rule.doc, "armed": rule.armed, "urgent": rule.urgent, "version": rule.version,
            "source": rule.about, "where": rule.where, "every": rule.every, "by": list(rule.by),
        }
        for rule in domains()[domain].rules
    ]  # fmt: skip


def report(domain: str, name: str) -> Report:
    """A report by its domain's and its own name."""
    known = {(of, one.name): one for of, page in pages().items() for one in page.reports}
    if (domain, name) not in known:
        raise unknown("report", f"{domain}/{name}", tuple("/".join(pair) for pair in known))
    return known[domain, name]
