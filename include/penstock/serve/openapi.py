"""The read API's description for programs (OpenAPI 3.1): every address, with the names that there are."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.model.domain import domains
from penstock.model.view import View
from penstock.serve import matched
from penstock.serve.acting import OPERATIONS
from penstock.serve.declared import pages
from penstock.serve.drawing import KINDS
from penstock.serve.live import AUDIT, PIPELINE
from penstock.serve.question import LARGEST_LIMIT, LIMIT, OPERATORS

Doc = dict[str, Any]

RANGE = {
    "from": "start of the range, included: RFC 3339 with a zone, a date, or milliseconds; a day ago if absent",
    "to": "end of the range, excluded; tomorrow if absent",
    "where": f"key:operator:value, repeatable; operators: {', '.join(OPERATORS)}",
    "tz": "time zone of buckets of a day or more, such as Europe/Berlin",
}
QUESTION = {
    **RANGE,
    "every": "bucket, such as 5 minutes, 1 hour, 1 day, 1 week, 1 month; absent: one total",
    "over": "with every: each bucket tells of the window of this width that ends with it, such as 1 hour",
    "retained": "with every: a theta measure; of members that a bucket saw first, how many came in each later one",
    "by": "keys, separated by commas; absent: none",
    "order": "columns, separated by commas, each with a minus for descending",
    "limit": f"rows at most: {LIMIT} if absent, up to {LARGEST_LIMIT}",
}
ROWS = {"limit": f"rows at most: {matched.ROWS} if absent, up to {matched.MOST_ROWS}"}
ALERTS = {"rule": "only this rule's; absent: of all", **ROWS}
LIVE = {
    "view": "the view to ask, with all that may be said to it",
    "rule": f"or the rule to follow, with limit alone: {ROWS['limit']}",
    "about": f"or, alone: {PIPELINE} for status and ledger every two seconds, {matched.ALERTS} for those of all rules, "
    f"{AUDIT} for what people do",
    "ticket": "for a page's script: what POST /api/ticket gave",
    **QUESTION,
}

# Method and address -> what it is for, and what may be said in the query.
ADDRESSES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "get /api/views": ("Every view: its words, keys, numbers and buckets.", {}),
    "get /api/views/{name}": ("Rows of a view and their certificate.", QUESTION),
    "get /api/answers": (
        "Questions of several views in one request; in their order the answers, or a problem.",
        {"ask": "a view's name, ? and the query of its question; repeatable"},
    ),
    "get /api/reports/{domain}/{name}": ("A report: several questions of views, with a certificate.", RANGE),
    "get /api/charts/{domain}/{kind}": (
        "A page's chart of a week beside the week before, as a picture.",
        {name: RANGE[name] for name in ("to", "where")},
    ),
    "get /api/facts/{source}": ("The newest facts.", ROWS),
    "get /api/rejected/{source}": ("The newest rejected records.", {"reason": "only of this reason", **ROWS}),
    "get /api/rejected/{source}/groups": ("What was rejected by reason, and what might mend it.", {}),
    "get /api/statements/{source}": ("What is retracted, restated and repaired of a source, newest first.", {}),
    "get /api/restore_points": ("The moments that can be gone back to, newest first.", {}),
    "get /api/alerts": ("What rules have found, newest first.", ALERTS),
    "get /api/live": (
        "A websocket: the whole answer to a question of a view or of a rule, then what changes.",
        LIVE,
    ),
    "get /api/ledger": ("Accepted, archived, facts, rejected and duplicates by hour.", {"source": "only this one's"}),
    "get /api/status": ("What each stream last said, the epoch of each view, and what cannot be read.", {}),
    "get /api/subscribers": ("Who subscribes live to which view or rule.", {}),
    "get /api/releases": ("Of each domain the current release, and every one that there is.", {}),
    "get /api/releases/{domain}/compared": (
        "What two releases answer otherwise, and why.",
        {"before": "a release; absent: the current one", "after": "a release; absent: the current one"},
    ),
    "get /api/audit": ("Who did what, when and why, newest first.", {}),
    "get /api/works": ("Gates' last words, DAGs under way, rows and bytes of each table.", {}),
    "get /api/operations": ("Runs of what the console can start that are not over.", {}),
    "post /api/operations/{dag}": (
        "Starts one by its DAG; the body has its form. For those on call.",
        {},
    ),
    "get /api/operations/{dag}/{run}": ("How far a run is, what is planned, and what it asks.", {}),
    "post /api/operations/{dag}/{run}": (
        "Answers what it asks; approve or reject. For those on call.",
        {},
    ),
    "get /api/domains": ("What the domains want shown: pages, reports, rules.", {}),
    "get /api/openapi.json": ("This description.", {}),
    "get /api/me": ("Who asks, as the server knows them.", {}),
    "post /api/login": ("Starts a session; the body names user and password.", {}),
    "post /api/logout": ("Ends the session.", {}),
    "post /api/ticket": ("A ticket that opens one websocket, soon.", {}),
    "get /api/shares": ("The links that show a page to anybody.", {}),
    "post /api/shares": ("Makes such a link; the body names domain and scope.", {}),
    "delete /api/shares/{id}": ("Revokes a link.", {}),
    "get /healthz": ("Whether the process answers.", {}),
    "get /metrics": ("Numbers for Prometheus.", {}),
}
# All others answer with JSON.
KINDS_OF = {"/metrics": ("text/plain",), "/api/charts/{domain}/{kind}": tuple(KINDS.values())}
PROBLEM: Doc = {"description": "A problem document (RFC 9457)", "content": {"application/problem+json": {}}}


def openapi(views: Iterable[View], version: str) -> Doc:
    """The description, with the names of these views and of what the domains declare."""
    names, paths = known(views), dict[str, Doc]()
    for address, (about, said) in ADDRESSES.items():
        method, path = address.split()
        operation = {"summary": about, "parameters": [*_in_path(path, names), *_in_query(said)]}
        paths.setdefault(path, {})[method] = {**operation, "responses": _responses(path)}
    return {"openapi": "3.1.0", "info": {"title": "Penstock", "version": version}, "paths": paths}


def known(views: Iterable[View]) -> dict[tuple[str, str], list[str]]:
    """What may stand in an address, by its beginning and the parameter's name."""
    reports = sorted({report.name for page in pages().values() for report in page.reports})
    sources = [source.name for domain in domains().values() for source in domain.sources]
    return {
        ("views", "name"): [view.name for view in views],
        ("reports", "domain"): [*pages()],
        ("reports", "name"): reports,
        ("charts", "domain"): [*pages()],
        ("charts", "kind"): [*KINDS],
        ("facts", "source"): sources,
        ("rejected", "source"): sources,
        ("statements", "source"): sources,
        ("releases", "domain"): [*domains()],
        ("operations", "dag"): [*OPERATIONS],
    }


def _in_path(path: str, names: Mapping[tuple[str, str], list[str]]) -> list[Doc]:
    begins = path.split("/")[2] if path.startswith("/api/") else ""
    schemas = {name: {"type": "string"} | _one_of(names.get((begins, name))) for name in re.findall(r"{(\w+)}", path)}
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name, schema in schemas.items()]


def _one_of(names: list[str] | None) -> Doc:
    return {"enum": names} if names else {}


def _in_query(said: Mapping[str, str]) -> list[Doc]:
    return [
        {"name": name, "in": "query", "description": text, "schema": {"type": "string"}} for name, text in said.items()
    ]


def _responses(path: str) -> Doc:
    if path == "/api/live":
        return {
            "101": {"description": "The answers, one message each; a refusal is a problem document"},
            "403": PROBLEM,
        }
    good = {"description": "OK", "content": {kind: {} for kind in KINDS_OF.get(path, ("application/json",))}}
    return {"200": good, "default": PROBLEM}
