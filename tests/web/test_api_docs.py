"""docs/api.md agrees with the API, and its examples work."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from noughts.web import schemas
from noughts.web.routes import OPERATIONS
from support.command import environment
from support.web import curl
from support.web.serving import BASE, Server
from support.web.serving_docs import DOCS, code, rows

API = (DOCS / "api.md").read_text()

OMITTED = "…"
"""What stands on the page for something that is left out."""


def test_the_page_has_every_operation() -> None:
    documented = {code(row[0])[0]: (set(code(row[1])), row[2]) for row in rows(API, "## Operations")}
    expected = {}
    for operation in OPERATIONS:
        answers = ", ".join(f"{status} {kind.__name__}" for status, kind in operation.answers.items())
        answers = answers or "200, a stream"
        names = {query.name for query in operation.query}
        if operation.body:
            names |= {field.name for field in msgspec.structs.fields(operation.body)}
        expected[f"{operation.method} {operation.path}"] = (names, answers)

    del documented["GET /openapi.json"]

    assert documented == expected


@pytest.mark.parametrize(
    "kind",
    [
        schemas.Seated,
        schemas.Moved,
        schemas.Game,
        schemas.Room,
        schemas.Lobby,
        schemas.Bots,
        schemas.Analysis,
    ],
)
def test_the_page_has_every_field_of_an_answer(kind: type[msgspec.Struct]) -> None:
    documented = [code(row[0])[0] for row in rows(API, f"### {kind.__name__}")]
    assert documented == [field.name for field in msgspec.structs.fields(kind)]


def steps() -> Iterator[tuple[str, str, str]]:
    """Return each command of the page, with the language and text of the answer below it."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", API, re.DOTALL | re.MULTILINE)
    blocks = [block for block in blocks if not block[1].startswith("BASE=")]
    assert len(blocks) % 2 == 0
    for (shell, command), (language, answer) in zip(blocks[::2], blocks[1::2], strict=True):
        assert shell == "sh"
        yield command.strip(), language, answer


def agree(shown: object, real: object, kept: dict[str, str]) -> bool:
    """Return whether an answer is as shown; `$NAME` is bound to its first value, and compared later."""
    if shown == OMITTED:
        return True
    if isinstance(shown, str) and shown.startswith("$"):
        return isinstance(real, str) and kept.setdefault(shown[1:], real) == real
    if isinstance(shown, dict) and isinstance(real, dict):
        whole = OMITTED in shown or set(shown) == set(real)
        names = set(shown) - {OMITTED}
        return whole and all(name in real and agree(shown[name], real[name], kept) for name in names)
    if isinstance(shown, list) and isinstance(real, list) and shown != [OMITTED]:
        pairs = list(zip(shown, real, strict=False))
        return len(shown) == len(real) and all(agree(one, other, kept) for one, other in pairs)
    return isinstance(real, list) if shown == [OMITTED] else shown == real


@pytest.fixture
def curls(tmp_path: Path) -> dict[str, str]:
    """Return a PATH with our small curl, and one with the real curl if it is installed."""
    own = tmp_path / "bin" / "curl"
    own.parent.mkdir()
    own.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {curl.__file__} "$@"\n')
    own.chmod(0o755)
    path = os.environ["PATH"]
    found = {"ours": f"{own.parent}{os.pathsep}{path}"}
    real = shutil.which("curl")
    if (
        real
        and "--json"
        in subprocess.run([real, "--help", "http"], capture_output=True, text=True, check=False).stdout
    ):
        found["real"] = path
    return found


def follow(command: str, names: dict[str, str], lines: int) -> list[str]:
    """Run a command until it has printed a number of lines, and return them."""
    with subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"], env=names, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout
        try:
            return [next(running.stdout).rstrip("\n") for _ in range(lines)]
        finally:
            running.kill()


def parsed(line: str) -> tuple[str, Any]:
    """Return the field and the value of a line of a stream; data is decoded."""
    name, _, value = line.partition(": ")
    return name, json.loads(value) if name == "data" else value


def test_the_examples_of_the_page_work(server: Server, curls: dict[str, str]) -> None:
    for path in curls.values():
        kept: dict[str, str] = {}
        seen = 0
        for command, language, shown in steps():
            names = environment(PATH=path, BASE=server.url + BASE, **kept)
            if language == "text":
                wanted = shown.splitlines()
                came = follow(command, names, len(wanted))
                pairs = zip(map(parsed, wanted), map(parsed, came), strict=True)
                assert all(agree([*one], [*other], kept) for one, other in pairs), came
            else:
                ran = subprocess.run(
                    ["/bin/sh", "-c", command], env=names, capture_output=True, text=True, check=True
                )
                assert agree(json.loads(shown), json.loads(ran.stdout), kept), ran.stdout
            seen += 1
        assert seen > 10
