"""The OpenAPI document: it is valid and complete, and the server agrees with it.

Schemathesis generates requests from the document that the server serves. A request that fits the document
may still be refused, because the rules are stricter: names, policies and positions have a grammar, and
only one of board and moves may be given. A request that does not fit must be refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings, strategies as st
from schemathesis import BaseSchema, Case, GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    positive_data_acceptance,
    response_schema_conformance,
)

from noughts.web.problems import CODES
from noughts.web.routes import OPERATIONS
from support.length import short_or_long
from support.web.matches import Seat, two_players
from support.web.serving import Client, Server

EXAMPLES = short_or_long(12, 40)  # a stream of a game that goes on is read for ten seconds
EXCLUDED = [positive_data_acceptance, ignored_auth]
"""Without a seat the answer is 404, not the 401 that Schemathesis expects."""
ROUTES = [f"{operation.method} {operation.route}" for operation in OPERATIONS]
ROUTES_WITH_INPUT = [
    f"{operation.method} {operation.route}"
    for operation in OPERATIONS
    if operation.body or operation.query or "{id}" in operation.path
]
"""What takes anything that could be wrong."""


@pytest.fixture(scope="module")
def document(server: Server) -> Any:
    with server.client() as client:
        answer = client.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    return answer.json


@pytest.fixture(scope="module")
def schema(document: dict[str, Any]) -> BaseSchema:
    load_all_checks()
    schema = schemathesis.openapi.from_dict(document)
    refusing = schema.config.checks.negative_data_rejection
    refusing.expected_statuses = [*refusing.expected_statuses, "413"]  # it may be too long, too
    return schema


def test_the_document_is_valid_and_has_every_operation_and_code(
    client: Client, schema: BaseSchema, document: dict[str, Any]
) -> None:
    schema.validate()
    assert document["openapi"].startswith("3.1")
    found = {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert [*found] == ROUTES
    assert len({operation["operationId"] for operation in found.values()}) == len(found)
    words = json.dumps([operation["responses"] for operation in found.values()])
    for code in {*CODES} - {"methodNotAllowed"}:
        assert f"`{code}`" in words, code
    for name in found:
        method, _, path = name.partition(" ")
        answer = client.ask(method, "/" + path.replace("{id}", "a" * 26))
        assert answer.status not in (405, 500), name


@pytest.mark.parametrize("route", ROUTES)
def test_requests_that_fit_get_documented_answers(server: Server, schema: BaseSchema, route: str) -> None:
    """For games at every stage and missing ones, with and without a seat."""
    with two_players(server) as fresh, two_players(server) as over, two_players(server) as asked:
        over.play(0, 3, 1, 4, 2)
        over.X.rematch()
        asked.play(4)
        asked.X.take_back()
        seats = [seat for match in (fresh, over, asked) for seat in match.seats.values()]
        waiting = fresh.watcher.create("friend")
        seats.append(Seat(server.client(waiting["secrets"]["X"]), waiting["id"]))
        held = st.sampled_from([(seat.game, seat.client.secret) for seat in seats])
        # The schema of a stream is that of its text, and Schemathesis takes it for that of each message.
        excluded = [*EXCLUDED, *([response_schema_conformance] if route.endswith("/events") else [])]

        @_limited
        @given(case=_cases(schema, route, GenerationMode.POSITIVE), at=held, is_there=st.booleans())
        def answers(case: Case[Any], at: tuple[str, str], is_there: bool) -> None:  # noqa: FBT001 - drawn
            headers = {}
            if is_there and "id" in case.path_parameters:
                game, secret = at
                case.path_parameters["id"] = game
                headers["Authorization"] = f"Bearer {secret}"
            case.call_and_validate(base_url=server.url, headers=headers, excluded_checks=excluded)

        answers()


@pytest.mark.parametrize("route", ROUTES_WITH_INPUT)
def test_requests_that_do_not_fit_are_refused(server: Server, schema: BaseSchema, route: str) -> None:
    @_limited
    @given(case=_cases(schema, route, GenerationMode.NEGATIVE))
    def refuses(case: Case[Any]) -> None:
        case.call_and_validate(base_url=server.url, excluded_checks=EXCLUDED)

    refuses()


def _cases(schema: BaseSchema, route: str, mode: GenerationMode) -> st.SearchStrategy[Case[Any]]:
    method, _, path = route.partition(" ")
    return schema[path][method].as_strategy(generation_mode=mode)


def _limited(test: Callable[..., None]) -> Callable[..., None]:
    limits = settings(max_examples=EXAMPLES, database=None, suppress_health_check=[*HealthCheck])
    return limits(test)
