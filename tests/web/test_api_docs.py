"""docs/api.md agrees with the API: its tables, its codes and its examples."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from noughts.store.errors import StoreUnavailable
from noughts.web import schemas
from noughts.web.app import BODY_SECONDS
from noughts.web.problems import CODES
from noughts.web.request import MAX_BODY_BYTES
from noughts.web.routes import OPERATIONS
from support.command import environment
from support.web import curl
from support.web.in_process import InProcessServer
from support.web.matches import Match, Seat, two_players
from support.web.serving import BASE, Answer, Client, Server
from support.web.serving_docs import DOCS

API = (DOCS / "api.md").read_text()

OMITTED = "…"
"""What stands on the page for something that is left out."""


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without the table's head."""
    _, there, rest = API.partition(f"\n{heading}\n")
    assert there, f"no heading {heading}"
    table = re.search(
        r"(?:^\|.*\n)+", re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0], re.MULTILINE
    )
    assert table, f"no table under {heading}"
    lines = table.group().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def code(cell: str) -> list[str]:
    """Return the code spans of a table cell."""
    return re.findall(r"`([^`]+)`", cell)


def test_the_page_has_every_operation() -> None:
    documented = {code(row[0])[0]: (set(code(row[1])), row[2]) for row in rows("## Operations")}
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
    "kind", ["Seated", "Moved", "Game", "Position", "Room", "Lobby", "Bots", "Analysis", "LinkImage"]
)
def test_the_page_has_every_field_of_an_answer(kind: str) -> None:
    documented = [code(row[0])[0] for row in rows(f"### {kind}")]
    assert documented == [field.name for field in msgspec.structs.fields(getattr(schemas, kind))]


def _again(act: Callable[[Client], Answer], **settings: str) -> Answer:
    """Do something once more than a limit of 1 allows."""
    limits = {f"NOUGHTS_{name}": value for name, value in settings.items()}
    with InProcessServer("memory:", **limits) as server, server.client() as client:
        act(client)
        return act(client)


def _follow(client: Client) -> Answer:
    game = client.create("self", key="k" * 16)["id"]
    stream = client.follow(game)
    return stream.refusal or client.get("/health")


def _late(match: Match) -> Answer:
    """Begin a request, and never end it."""
    assert isinstance(match.server, InProcessServer)
    connection = match.server.connection()
    connection.request("POST", f"{BASE}/games", b"{", is_whole=False)
    match.server.client().get("/health")
    match.server.skip(BODY_SECONDS + 2)
    response = connection.getresponse()
    return Answer(response.status, response.headers, response.read())


def _over(match: Match) -> Match:
    match.play(0, 3, 1, 4, 2)
    return match


def _played(match: Match) -> Match:
    match.play(4)
    return match


def _keyed(match: Match) -> Answer:
    match.X.move(4, 5, "one")
    return match.X.resign(8, "one")


def _join(match: Match) -> Answer:
    game = match.watcher.create("lobby")["id"]
    match.watcher.join(game, None)
    return match.watcher.post(f"/games/{game}/join", {"key": "k" * 16})


def _early(match: Match) -> Answer:
    seat = match.watcher.create("friend")
    return Seat(match.server.client(seat["secrets"]["X"]), seat["id"]).move(4)


# Each code with a request that gets it, in a game that Ann (X) and Bob have begun.
PROVOKED: dict[str, Callable[[Match], Answer]] = {
    "badRequest": lambda match: match.X.client.post("/games", {}),
    "nameRefused": lambda match: match.X.client.post("/games", {"opponent": "self", "name": ""}),
    "unknownPolicy": lambda match: match.X.client.post("/games", {"opponent": "bot", "bot": "x"}),
    "unreadable": lambda match: match.X.client.get("/analysis?moves=55"),
    "notAcceptedHere": lambda match: match.X.client.post("/qr", {}, origin="https://evil.example"),
    "notFound": lambda match: Seat(match.watcher, match.game).move(4),
    "methodNotAllowed": lambda match: match.X.client.ask("PUT", f"/games/{match.game}"),
    "timeout": _late,
    "gameOver": lambda match: _over(match).O.move(8),
    "noSuchCell": lambda match: match.X.move(9),
    "cellTaken": lambda match: _played(match).O.move(4),
    "notYourTurn": lambda match: match.O.move(4),
    "notReady": _early,
    "staleVersion": lambda match: _played(match).X.move(0, 5),
    "keyReused": _keyed,
    "seatTaken": _join,
    "alreadyOver": lambda match: _over(match).O.resign(),
    "notOver": lambda match: match.X.rematch(),
    "nothingToTakeBack": lambda match: match.X.take_back(),
    "noOffer": lambda match: match.X.answer(accept=True),
    "tooLong": lambda match: _played(match).X.take_back(),
    "tooLarge": lambda match: match.X.client.post("/games", " " * MAX_BODY_BYTES),
    "wrongType": lambda match: match.X.client.ask("POST", "/games", b"{}"),
    "tooMany": lambda _: _again(lambda client: client.get("/analysis"), ANALYSES_PER_MINUTE="1"),
    "internal": lambda match: match.X.client.post("/qr", {"link": "broken"}),
    "storeUnavailable": lambda match: match.X.client.get(f"/games/{'a' * 26}"),
    "tooBusy": lambda _: _again(_follow, MOST_STREAMS="1"),
}


def _fail(*_: object) -> None:
    raise StoreUnavailable("the disk is gone")


# What is broken or smaller for a code.
PATCHES: dict[str, tuple[str, object]] = {
    "tooLong": ("noughts.service.MAX_TAKE_BACK_BYTES", 0),
    "internal": ("noughts.web.queries.segno", None),
    "storeUnavailable": ("noughts.store.base.Store.read_rows", _fail),
}


@pytest.mark.parametrize("name", CODES)
def test_every_code_is_of_a_refusal(
    in_process: Server, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its status and title, and a sentence; 5xx only if the server is at fault, or full."""
    status, title = CODES[name]
    with two_players(in_process) as match:
        if name in PATCHES:
            monkeypatch.setattr(*PATCHES[name])
        answer = PROVOKED[name](match)
        assert (answer.code, answer.status) == (name, status)
        problem = answer.json
        assert {**problem, "detail": "", "version": 0} == {
            "title": title, "status": status, "code": name, "detail": "", "version": 0
        }  # fmt: skip
        assert re.fullmatch(r"[A-Z].*[.!?]", problem["detail"])
        assert (status in (429, 503)) is (answer.headers["retry-after"] is not None)
        assert (status >= 500) is (name in ("internal", "storeUnavailable", "tooBusy"))


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
def path(tmp_path: Path) -> str:
    """Return a PATH with a curl: the system's if it knows --json, and ours otherwise."""
    real = shutil.which("curl")
    helped = real and subprocess.run([real, "--help", "http"], capture_output=True, check=False).stdout
    if helped and b"--json" in helped:
        return os.environ["PATH"]
    own = tmp_path / "curl"
    own.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {curl.__file__} "$@"\n')
    own.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


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


def test_the_examples_of_the_page_work(server: Server, path: str) -> None:
    kept: dict[str, str] = {}
    commands = [*steps()]
    assert len(commands) > 10
    for command, language, shown in commands:
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
