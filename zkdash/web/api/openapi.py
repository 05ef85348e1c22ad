"""/api/openapi.json: every page's data and what else there is for programs, as an OpenAPI 3.1 document.

It is made of the pages' own declarations, and names no cluster: everybody may have it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.topic_queries import SIZES
from zkdash.web import pages
from zkdash.web.frame import exports, links, shapes
from zkdash.web.frame.listing import Spec
from zkdash.web.frame.page import Page
from zkdash.web.frame.shapes import Columns, Schema, Shape
from zkdash.web.overview import clusters
from zkdash.web.past import asked, bar

SHAPES: Final = {clusters.NAME: clusters.SHAPE, **{page.name: page.shape for page in pages.PAGES}}
VERSION: Final = "1"

_MOMENT: Final[Schema] = {
    "type": "string",
    "pattern": asked.PATTERN,
    "description": "the page as it was: at a time, so long ago, or after a transaction",
    "examples": ["2026-11-20T10:42Z", "-15m", "zxid:0x500000012"],
}
_FORMAT: Final[Schema] = {
    "name": "format",
    "in": "query",
    "required": True,
    "description": "“json” here; without it the page answers to Accept: application/json too",
    "schema": {"type": "string", "enum": ["json"]},
}
_NAME: Final[Schema] = {"type": "string", "minLength": 1}
_CLUSTER: Final[Schema] = {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,62}$"}
_NUMBER: Final[Schema] = {"type": "integer", "minimum": 0}
_PLACEHOLDER = re.compile(r"<(\w+):(\w+)>")
_INSTANT: Final[Schema] = {"type": ["string", "null"], "description": "UTC; null where nothing is known yet"}


@require_safe
def document(_request: HttpRequest) -> HttpResponse:
    """The document."""
    return exports.json_response(build(), 200)


@cache
def build() -> Schema:
    """The document as plain values."""
    paths: Schema = {"/": {"get": _operation(clusters.NAME, "The clusters that may be seen", (), None)}}
    for page in pages.PAGES:
        spec = getattr(page.canonical, "__self__", None)
        path, parameters = _path(page)
        paths[path] = {
            "get": _operation(page.name, _title(page), parameters, spec if isinstance(spec, Spec) else None)
        }
    paths |= _others()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "zkdash",
            "version": VERSION,
            "description": "The state that Kafka keeps in ZooKeeper. Fields may be added, none is taken away "
            "or changes its meaning within a version.",
        },
        "servers": [{"url": links.own("/")}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "made at /tokens/"}
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string", "description": "one sentence"}},
                },
                **{_component(name): _schema(shape) for name, shape in SHAPES.items()},
            },
        },
    }


def _title(page: Page) -> str:
    return page.label or f"One {page.name}"


def _path(page: Page) -> tuple[str, tuple[Schema, ...]]:
    """The path as OpenAPI writes it, and the parameters in it."""
    parameters = [_in_path("cluster", _CLUSTER)]
    for kind, name in _PLACEHOLDER.findall(page.route):
        parameters.append(_in_path(name, _NUMBER if kind == "int" else _NAME))
    route = _PLACEHOLDER.sub(r"{\2}", page.route)
    return f"/c/{{cluster}}/{route}", tuple(parameters)


def _in_path(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _operation(name: str, summary: str, parameters: tuple[Schema, ...], spec: Spec | None) -> Schema:
    own = {**(_of_list(spec) if spec else {}), **SHAPES[name].parameters}
    page = pages.BY_NAME.get(name)
    if page is not None and not page.no_past:
        own["at"] = _MOMENT
    query_parameters = [
        {"name": parameter, "in": "query", "schema": schema} for parameter, schema in own.items()
    ]
    reference = {"$ref": f"#/components/schemas/{_component(name)}"}
    return {
        "operationId": name,
        "summary": summary,
        "parameters": [*parameters, _FORMAT, *query_parameters],
        "responses": {
            "200": _json("The page's data", reference),
            "400": _error("at is no moment, or the page has no past of its own"),
            "401": _error("A token is needed, or the one that was shown is worth nothing"),
            "404": _json(
                "There is no such cluster for who asks, nothing of that name in it, or nothing is recorded "
                "of that moment",
                {"anyOf": [{"$ref": "#/components/schemas/Error"}, reference]},
            ),
            "503": _error("The cluster is not watched here, or the database or the past is away"),
        },
    }


def _of_list(spec: Spec) -> dict[str, Schema]:
    sorts = sorted({prefix + sort.removeprefix("-") for sort in spec.sorts for prefix in ("", "-")})
    return {
        "q": {"type": "string", "maxLength": 200},
        "status": {"type": "array", "items": {"enum": [severity.value for severity in Severity]}},
        "sort": {"type": "string", "enum": sorts},
        "page": shapes.PAGE,
        "size": {"type": "integer", "enum": list(SIZES)},
    }


def _schema(shape: Shape) -> Schema:
    """A page: the same head everywhere, then its own."""
    head: Schema = {
        "cluster": {"type": ["string", "null"]},
        "page": {"type": "string"},
        "revision": {"type": "integer", "description": "grows with every change, within one process"},
        "zxid": {"type": ["integer", "null"], "description": "the last transaction that it tells of"},
        "as_of": _INSTANT,
        "stale": {"type": "boolean", "description": "whether as_of is over 3 s ago"},
        "total": {"type": "integer", "description": "rows on all pages of the query"},
    }
    return {
        "type": "object",
        "required": [*head, "rows", *(name for name in shape.extra if name not in shape.optional)],
        "properties": {
            **head,
            "notes": {"type": "array", "items": {"type": "string"}, "description": "what was not understood"},
            "error": {"type": "string", "description": "why there is nothing, or not all"},
            "past": {
                **bar.RECORD,
                "description": "of an answer with ?at=: its moment, and what is around it",
            },
            "rows": {"type": "array", "items": _rows(shape.rows)},
            **shape.extra,
        },
        "additionalProperties": False,
    }


def _rows(layouts: tuple[Columns, ...]) -> Schema:
    rows = [shapes.row(columns) for columns in layouts]
    return rows[0] if len(rows) == 1 else {"anyOf": rows}


def _others() -> Schema:
    text = {"text/plain": {"schema": {"type": "string"}}}
    place = {"type": "string", "pattern": "^[0-9]{1,19}(-[0-9]{1,9})?$"}
    return {
        "/healthz": {
            "get": {
                "operationId": "healthz",
                "summary": "Whether the process answers",
                "responses": {"200": {"description": "It does", "content": text}},
            }
        },
        "/readyz": {
            "get": {
                "operationId": "readyz",
                "summary": "Whether its answers can be relied on",
                "responses": {
                    "200": {"description": "They can", "content": text},
                    "503": {"description": "What is not so, a line each", "content": text},
                },
            }
        },
        "/metrics": {
            "get": {
                "operationId": "metrics",
                "summary": "For Prometheus",
                "responses": {
                    "200": {"description": "Samples", "content": text},
                    "401": _error("A token is needed"),
                },
            }
        },
        "/c/{cluster}/feed/": {
            "get": {
                "operationId": "feed",
                "summary": "Changes as Server-Sent Events: begin, change, reset",
                "parameters": [
                    _in_path("cluster", _CLUSTER),
                    {"name": "since", "in": "query", "schema": place},
                    {"name": "Last-Event-ID", "in": "header", "schema": place},
                ],
                "responses": {
                    "200": {
                        "description": "Events, without end",
                        "content": {"text/event-stream": {"schema": {"type": "string"}}},
                    },
                    "400": _error("since is no place in a feed"),
                    "401": _error("A token is needed"),
                    "404": _error("There is no such cluster for who asks"),
                    "503": _error("Too many feeds are open, or the cluster is not watched here"),
                },
            }
        },
    }


def _error(description: str) -> Schema:
    return _json(description, {"$ref": "#/components/schemas/Error"})


def _json(description: str, schema: dict[str, Any]) -> Schema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _component(name: str) -> str:
    """A page's name as the name of a schema: "what-if" is "WhatIf"."""
    return "".join(part.capitalize() for part in name.split("-"))
