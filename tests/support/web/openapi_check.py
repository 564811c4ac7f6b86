"""Checks every answer of a server against its own OpenAPI document."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs

from support.web.serving import Answer, Server


class OpenApiCheck:
    """The document, ready to check answers."""

    def __init__(self, server: Server) -> None:
        with server.client() as client:
            document: dict[str, Any] = client.get("/openapi.json").json
        self._paths = [
            (re.compile(re.sub(r"\{[a-z]+\}", "[^/]+", path)), operations)
            for path, operations in document["paths"].items()
        ]
        self._components = document["components"]
        self._validators: dict[str, Any] = {}

    def __call__(self, method: str, path: str, answer: Answer) -> None:
        """Fail if the document does not describe this answer."""
        operation = self._operation(method, path.partition("?")[0])
        if operation is None:
            return
        documented = operation["responses"].get(str(answer.status))
        assert documented, f"{method} {path}: {answer.status} is not documented: {answer.body!r}"
        assert answer.headers["cache-control"] == "no-store"
        kind = answer.headers.get_content_type()
        assert kind in documented["content"], f"{method} {path}: {kind} is not documented"
        if kind != "text/event-stream":
            self._validate(documented["content"][kind]["schema"], json.loads(answer.body))
        if answer.code is not None:
            assert f"`{answer.code}`" in documented["description"], f"{method} {path}: {answer.code}"

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for pattern, operations in self._paths:
            if pattern.fullmatch(path):
                found: dict[str, Any] | None = operations.get(method.lower())
                return found
        return None

    def _validate(self, schema: dict[str, Any], value: object) -> None:
        name = json.dumps(schema, sort_keys=True)
        if name not in self._validators:
            whole = {**schema, "components": self._components}
            self._validators[name] = jsonschema_rs.validator_for(whole)
        self._validators[name].validate(value)
