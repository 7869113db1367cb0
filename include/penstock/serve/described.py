"""Views as the console, the command line and OpenAPI see them."""

from typing import Any

from penstock.model.bucket import widths
from penstock.model.view import Latest, PerKey, Sessions, Tally, View, source_of
from penstock.serve.declared import pages
from penstock.serve.question import LARGEST_LIMIT, LIMIT, OPERATORS, keys


def described(view: View) -> dict[str, Any]:
    """A view's words, keys and numbers."""
    return {
        "name": view.name,
        "doc": view.doc,
        "kind": type(view).__name__.lower(),
        "source": source_of(view).name,
        "of": view.of.name if isinstance(view.of, Sessions) else view.of.source.name,
        "keys": list(keys(view)),
        "measures": _numbers(view),
        "every": view.every if isinstance(view, Tally) else None,
        "widths": [width.name for width in widths(view.every)] if isinstance(view, Tally) else [],
    }


def _numbers(view: View) -> list[dict[str, str]]:
    match view:
        case Tally() | Sessions():
            return [{"name": name, "kind": measure.kind, "doc": measure.doc} for name, measure in view.measures.items()]
        case Latest():
            return [{"name": name, "kind": "column", "doc": ""} for name in ("at", *view.columns)]
        case PerKey():
            return [{"name": name, "kind": kind, "doc": ""} for name, kind in view.columns.items()]


def openapi(views: list[View], version: str) -> dict[str, Any]:
    """The API's description, made from the views that there are."""
    said = {
        "from": "start of the range, included: RFC 3339 with a zone, a date, or milliseconds; a day ago if absent",
        "to": "end of the range, excluded; tomorrow if absent",
        "every": "bucket, such as 5 minutes, 1 hour, 1 day, 1 week, 1 month; absent: one total of the range",
        "over": "with every: each bucket tells of the window of this width that ends with it, such as 1 hour",
        "retained": "with every: a theta measure; of members that a bucket saw first, how many came in each later one",
        "by": "keys, separated by commas; absent: none",
        "where": f"key:operator:value, repeatable; operators: {', '.join(OPERATORS)}",
        "order": "columns, separated by commas, each with a minus for descending",
        "limit": f"rows at most: {LIMIT} if absent, up to {LARGEST_LIMIT}",
        "tz": "time zone of buckets of a day or more, such as Europe/Berlin",
    }
    parameters = [
        {"name": name, "in": "query", "description": text, "schema": {"type": "string"}} for name, text in said.items()
    ]
    paths = {f"/api/views/{view.name}": _path(view.doc, parameters) for view in views}
    reports = {
        f"/api/reports/{domain}/{report.name}": _path(
            report.doc, [one for one in parameters if one["name"] in ("from", "to", "where", "tz")]
        )
        for domain, page in pages().items()
        for report in page.reports
    }
    simple = {
        "/api/views": "Every view.",
        "/api/status": "Streams, builds and problems.",
        "/api/releases": "What is current.",
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Penstock", "version": version},
        "paths": {**{path: _path(doc, []) for path, doc in simple.items()}, **paths, **reports},
    }


def _path(doc: str, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    problem = {"description": "A problem document (RFC 9457)", "content": {"application/problem+json": {}}}
    good = {"description": "OK", "content": {"application/json": {}}}
    return {
        "get": {"summary": doc, "parameters": parameters, "responses": {"200": good, "400": problem, "503": problem}}
    }
