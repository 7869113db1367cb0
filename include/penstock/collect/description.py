"""What the collector says of itself in OpenAPI, at `/openapi.json`: made from the sources, limits and reasons it has.

schemathesis holds it against a running collector: what is answered must be what is described.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from penstock import __version__
from penstock.collect.limits import Limits
from penstock.collect.refusal import REASONS

Doc = dict[str, Any]

TEXT: Doc = {"type": "string"}
TEXTS: Doc = {"type": "array", "items": TEXT}
COUNT: Doc = {"type": "integer", "minimum": 0}
REFUSED = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["index", "reason", "detail"],
        "properties": {"index": COUNT, "reason": {"enum": [*REASONS]}, "detail": TEXT},
    },
}
STAGE = {
    "type": "object",
    "required": ["stage"],
    "properties": {
        "id": TEXT,
        "stage": {"enum": ["accepted", "archived", "fact", "rejected", "duplicate"]},
        "reason": TEXT,
    },
}
STAGES = {"type": "array", "items": STAGE}
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"enum": [f"urn:penstock:refused:{reason}" for reason in REASONS]},
        "title": TEXT,
        "status": {"enum": sorted({status for status, _ in REASONS.values()})},
        "detail": TEXT,
        "refused": REFUSED,
    },
}
RECEIPT = {
    "type": "object",
    "required": ["source", "settled", "events"],
    "properties": {"source": TEXT, "settled": {"type": "boolean"}, "events": STAGES},
}
HEALTH = {"type": "object", "required": ["alive"], "properties": {"alive": {"const": True}}}
READINESS = {
    "type": "object",
    "required": ["ready", "log"],
    "properties": {"ready": {"type": "boolean"}, "log": {"enum": ["direct", "spooling"]}},
}
# Any request may be too long in its headers or fail by our own fault; a refused one stores nothing.
EVERYWHERE = (431, 503)


def description(sources: Iterable[str], limits: Limits) -> Doc:
    """The whole document. Only what follows a source on the log is not described further: it never ends."""
    named = {"name": "source", "in": "path", "required": True, "schema": {"enum": sorted(sources)}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Penstock's collector", "version": __version__},
        "paths": {
            "/v1/{source}": {"parameters": [named], "post": _post(limits)},
            "/v1/{source}/pixel.gif": {"parameters": [named], "get": _pixel()},
            "/v1/{source}/subscribe": {"parameters": [named], "get": _subscribe()},
            "/v1/receipts/{token}": {"parameters": [_in_path("token")], "get": _get("A receipt", RECEIPT, 404)},
            "/healthz": {"get": _get("Alive", HEALTH)},
            "/readyz": {"get": _readiness()},
            "/metrics": {"get": _operation("Counters for Prometheus", {"200": _body("text/plain", TEXT)})},
            "/tracker.js": {"get": _operation("The browser's part", {"200": _body("text/javascript", TEXT)})},
            "/openapi.json": {"get": _get("This document", {"type": "object"})},
            "/registry/subjects": {"get": _registry({"type": "array", "items": TEXT})},
            "/registry/subjects/{subject}/versions": {
                "parameters": [_in_path("subject")],
                "get": _registry({"type": "array", "items": COUNT}, 404),
                "post": _registry({"type": "object", "required": ["id"]}, 409, 413, 422, asks="schema"),
            },
            "/registry/subjects/{subject}/versions/{version}": {
                "parameters": [_in_path("subject"), _in_path("version")],
                "get": _registry({"type": "object", "required": ["subject", "version", "id", "schema"]}, 404),
            },
            "/registry/schemas/ids/{id}": {
                "parameters": [_in_path("id")],
                "get": _registry({"type": "object", "required": ["schema"]}, 404),
            },
        },
    }


def _post(limits: Limits) -> Doc:
    event: Doc = {"type": "object", "maxProperties": limits.keys}
    told = {"accepted": COUNT, "ids": TEXTS, "refused": REFUSED, "events": STAGES, "receipt": TEXT}
    accepted = {"type": "object", "required": ["accepted", "ids"], "properties": told}
    content = {
        "application/json": {
            "schema": {"oneOf": [event, {"type": "array", "items": event, "maxItems": limits.events}]}
        },
        "application/x-ndjson": {"schema": TEXT},
        "application/avro": {"schema": {"type": "string", "format": "binary"}},
    }
    answers = {"200": _json("Every event has its disposition", accepted), "202": _json("The events are safe", accepted)}
    operation = _operation("One event, an array of events, or lines", answers, 400, 401, 404, 408, 413, 415, 422, 429)
    prefer = {"name": "prefer", "in": "header", "schema": {"enum": ["respond-async", "wait=1"]}}
    return {**operation, "parameters": [prefer], "requestBody": {"required": True, "content": content}}


def _pixel() -> Doc:
    fields = {"name": "event", "in": "query", "schema": {"type": "object", "additionalProperties": TEXT}}
    operation = _operation("One event as a query", {"200": _body("image/gif", {})}, 400, 401, 404, 413, 415, 422, 429)
    return {**operation, "parameters": [fields]}


def _subscribe() -> Doc:
    start = {"name": "from", "in": "query", "schema": {"type": "string"}}
    operation = _operation("The records as they come", {"200": _body("text/event-stream", TEXT)}, 400, 401, 404, 429)
    return {**operation, "parameters": [start]}


def _readiness() -> Doc:
    answers = {status: _json("Whether events can be kept", READINESS) for status in ("200", "503")}
    return {"summary": "Ready", "responses": {**_problems(431), **answers}}


def _registry(schema: Doc, *statuses: int, asks: str = "") -> Doc:
    """Errors of Confluent's protocol have a document of their own; what the edge refuses is a problem as everywhere."""
    kind = "application/vnd.schemaregistry.v1+json"
    error = {"type": "object", "required": ["error_code", "message"]}
    answers: Doc = {"200": _body(kind, schema)}
    for status in statuses:
        problem = _problems(status).get(str(status), {"content": {}})["content"]
        answers[str(status)] = {"description": "Not so", "content": {**problem, kind: {"schema": error}}}
    operation = _operation("A part of Confluent's protocol", answers, *((401,) if asks else ()))
    body = {"type": "object", "required": [asks], "properties": {asks: TEXT}}
    return {**operation, "requestBody": {"content": {"application/json": {"schema": body}}}} if asks else operation


def _get(summary: str, schema: Doc, *statuses: int) -> Doc:
    return _operation(summary, {"200": _json(summary, schema)}, *statuses)


def _operation(summary: str, answers: Mapping[str, Doc], *statuses: int) -> Doc:
    return {"summary": summary, "responses": {**_problems(*statuses, *EVERYWHERE), **answers}}


def _problems(*statuses: int) -> Doc:
    """Why each status is given, in the words that senders get."""
    return {
        str(status): {
            "description": " ".join(f"{reason}: {why}" for reason, (its, why) in REASONS.items() if its == status),
            "content": {"application/problem+json": {"schema": PROBLEM}},
        }
        for status in statuses
    }


def _json(summary: str, schema: Doc) -> Doc:
    return {"description": summary, "content": {"application/json": {"schema": schema}}}


def _body(kind: str, schema: Doc) -> Doc:
    return {"description": "As described", "content": {kind: {"schema": schema}}}


def _in_path(name: str) -> Doc:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
