"""The OpenAPI document, made from the table of operations and the types of bodies."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from noughts import __version__
from noughts.web.problems import CODES, MEDIA_TYPE, Problem
from noughts.web.routes import OPERATIONS, Operation
from noughts.web.schemas import Position

TEMPLATE = "#/components/schemas/{name}"

COMMON_PROBLEMS = ("badRequest", "tooMany", "storeUnavailable", "tooBusy", "internal")
EVENT_STREAM = {
    "200": {
        "description": "The events from there on, and after those of each command `position`, which is "
        "a Position; `room` when it changes, which is a Room; `ping` every 15 s.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
GAME_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
LAST_EVENT_ID = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[0-9]{1,9}$"},
}
BODY_PROBLEMS = ("notAcceptedHere", "timeout", "tooLarge", "wrongType")


@cache
def document() -> dict[str, Any]:
    """Return the whole document."""
    bodies = [kind for one in OPERATIONS for kind in (one.body, *one.answers.values()) if kind]
    kinds = dict.fromkeys((Problem, Position, *bodies))
    _, components = msgspec.json.schema_components(kinds, ref_template=TEMPLATE)
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.route, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "noughts",
            "version": __version__,
            "description": "Tic-tac-toe with exact rules. A game's version is the number of its events.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(components),
            "securitySchemes": {
                "secret": {"type": "http", "scheme": "bearer", "description": "The secret of a seat"}
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    problems = [*operation.problems, *COMMON_PROBLEMS, *(BODY_PROBLEMS if operation.body else ())]
    answers = {
        str(status): {
            "description": (kind.__doc__ or "").split("\n")[0],
            "content": {"application/json": {"schema": _reference(kind)}},
        }
        for status, kind in operation.answers.items()
    }
    found: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": (operation.handler.__doc__ or "").split("\n")[0],
        "parameters": _parameters(operation),
        "responses": {**(answers or EVENT_STREAM), **_problems(problems)},
    }
    if operation.body:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _reference(operation.body)}},
        }
    if operation.needs_seat:
        found["security"] = [{"secret": []}]
    return found


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    own = [GAME_ID] if "{id}" in operation.path else []
    own += [LAST_EVENT_ID] if not operation.answers else []
    return own + [
        {"name": query.name, "in": "query", "required": False} | query._asdict()
        for query in operation.query
    ]


def _problems(codes: list[str]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(CODES[code][0], []).append(code)
    return {
        str(status): {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in found),
            "content": {MEDIA_TYPE: {"schema": _reference(Problem)}},
        }
        for status, found in sorted(by_status.items())
    }


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": TEMPLATE.format(name=kind.__name__)}
