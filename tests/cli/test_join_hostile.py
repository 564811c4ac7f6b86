"""`noughts join` and servers that misbehave: one clean sentence and the right exit code."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trustme

from noughts import O, X, encode, events
from support.forked import noughts
from support.length import short_or_long
from support.pseudo_terminal import CTRL_C, CTRL_D, between_pipes, in_terminal
from support.remote import AnswerProxy, HostedGame, Rule, changed, home, problem, seats, text
from support.web.serving import Server

CODE = "c0de-of-the-invitation"
FRANK = "frank, enter a position from 1 to 9: "
ESCAPES = "\x1b[2J\x1b]0;title\x07\u202e"
SHOWN = "\\x1b[2J\\x1b]0;title\\x07\\u202e"
NOTHING: Rule = []
"""Cuts the connection before the server gets the request."""

RUNS = short_or_long(12, 500)


def refused(folder: Path, *arguments: str, code: int, **changes: str) -> str:
    """Run the command, which must end with that code and one clean sentence; return the sentence."""
    ran = noughts("join", *arguments, env={**home(folder), **changes})
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith("noughts: ")
    assert ran.stderr.count("\n") == 1
    assert ran.stderr[:-1].isprintable()
    assert (arguments[0].partition("#")[2] or CODE) not in ran.stderr
    return ran.stderr.removeprefix("noughts: ").rstrip("\n")


def is_clean(output: bytes, end: str = "\r\n") -> bool:
    """Return whether output is free of control characters."""
    return all(line.isprintable() for line in output.decode().split(end))


# Addresses


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        "thegame",
        "localhost:8000",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "http://",
        "http:///game/abc",
        "http://[::1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "http://127.0.0.1:port/",
        "http://user:word@127.0.0.1/",
        "http://127.0.0.1/game/",
        "http://127.0.0.1/game/a/b",
        "http://127.0.0.1/game/..%2f",
        "http://127.0.0.1/replay/123",
        "http://127.0.0.1/?secret=1",
        "http://127.0.0.1/game/abc\r\nHost: b",
        "http://127.0.0.1/game/\x1b[2J",
        "http://127.0.0.1/ game/abc",
        f"http://{'a' * 64}.example/",
        "http://\u202e/",
        "http://" + "a" * 5000,
        f"http://127.0.0.1/#{CODE}",
        f"http://127.0.0.1/game/abc#{CODE}/..",
    ],
)
def test_bad_addresses(tmp_path: Path, address: str) -> None:
    """Nothing is sent, and no invitation code is shown."""
    assert CODE not in refused(tmp_path, address, code=2)


@pytest.mark.parametrize("option", ["--friend", "--bot=club"])
def test_a_new_game_needs_no_game(tmp_path: Path, option: str) -> None:
    """The address of a game and an option for a new one contradict each other."""
    assert "makes a new game" in refused(tmp_path, "http://127.0.0.1/game/abc", option, code=2)


def test_a_bad_name_is_refused_here(game: HostedGame, tmp_path: Path) -> None:
    """Nothing is sent."""
    assert "a name can" in refused(tmp_path, game.invitation, "--name", ESCAPES, code=2)
    assert game.proxy.requests == []


# Other servers, or none


def test_an_unknown_host(tmp_path: Path) -> None:
    """The exit code is 1: it may be found later."""
    words = refused(tmp_path, "http://nonesuch.invalid/game/abc", code=1)

    assert words == "the host 'nonesuch.invalid' is unknown"


def test_a_server_that_does_not_run(tmp_path: Path) -> None:
    """The reason is shown."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

    words = refused(tmp_path, f"http://127.0.0.1:{port}/game/abc", code=1)

    assert words == f"http://127.0.0.1:{port} cannot be reached: Connection refused"


class Endless:
    """Sends a start, and then the same bytes forever."""

    def __init__(self, first: bytes, more: bytes) -> None:
        self._first, self._more = first, more

    def __iter__(self) -> Iterator[bytes]:
        yield self._first
        while True:
            yield self._more


def chunked(*chunks: bytes) -> Rule:
    """Return an answer in chunks, valid or not."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return [head, *chunks]


NOT_GAMES: dict[str, Rule] = {
    "a page": text(200, "<h1>Welcome</h1>", "text/html"),
    "a missing page": text(404, "<h1>Not found</h1>", "text/html"),
    "no content type": text(200, "{}", ""),
    "a redirect": text(302, "", Location="http://127.0.0.1:1/"),
    "a permanent redirect": text(308, "", Location="/api/v1/games/thegame"),
    "an error": text(500, "oops", "text/plain"),
    "nothing": NOTHING,
    "another protocol": [b"220 mail.example ESMTP\r\n" * 3],
    "zeros": [bytes(100_000)],
    "half a line": [b"HTTP/1.1 200"],
    "a status that is not a number": [b"HTTP/1.1 abc OK\r\n\r\n"],
    "a future HTTP": [b"HTTP/9.9 200 OK\r\n\r\n"],
    "a line of a megabyte": [b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_000_000],
    "endless headers": Endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"a" * 4096 + b"\r\n"),
    "a body that is too short": text(200, "{", Content_Length="99"),
    "a length that is not a number": text(200, "{}", Content_Length="many"),
    "a negative length": text(200, "{}", Content_Length="-1"),
    "a chunk without a length": chunked(b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk with a negative length": chunked(b"-5\r\n{}\r\n0\r\n\r\n"),
    "a chunk that is too short": chunked(b"ffffffffffffffff\r\n{"),
    "an endless body": Endless(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[", b"0," * 4096
    ),
    "half an object": text(200, "{"),
    "bytes that are not text": text(200, b"\xff\xfe"),
    "a list": text(200, "[]"),
    "an empty object": text(200, "{}"),
    "a repeated field": text(200, '{"id":1,"id":2}'),
    "NaN": text(200, '{"version":NaN}'),
    "deep nesting": text(200, "[" * 100_000),
    "a long number": text(200, '{"version":' + "9" * 5000 + "}"),
    "an empty refusal": text(404, "{}", "application/problem+json"),
    "a refusal with wrong types": text(404, '{"code":[],"detail":{}}', "application/problem+json"),
    "a limit": problem(429, "tooMany", f"Too many.{ESCAPES}", Retry_After="99999999999999"),
    "a full store": problem(503, "tooBusy", "Full.", Retry_After="soon"),
}


@pytest.mark.parametrize("answer", NOT_GAMES.values(), ids=NOT_GAMES.keys())
def test_answers_that_are_not_games(game: HostedGame, tmp_path: Path, answer: Rule) -> None:
    """The exit code is 1."""
    game.proxy.replace(game.game, answer)

    refused(tmp_path, game.address, code=1)


def test_redirects_are_not_followed(game: HostedGame, tmp_path: Path) -> None:
    """The other server gets no request, and so no secret."""
    with game.terminal(tmp_path) as session:
        session.expect("Waiting for bob.")
    with AnswerProxy((game.server.host, game.server.port)) as other:
        game.proxy.replace(game.game, text(307, "", Location=f"{other.url}/game/{game.game}"))

        words = refused(tmp_path, game.address, code=1)

        assert other.requests == []
    assert words == f"{game.proxy.url} redirects to another address, which is not followed"


def test_a_seat_belongs_to_one_server(game: HostedGame, tmp_path: Path) -> None:
    """Another server with a game of the same name gets no secret."""
    with game.terminal(tmp_path) as session:
        session.expect("Waiting for bob.")
    with AnswerProxy((game.server.host, game.server.port)) as other:
        ran = noughts("join", f"{other.url}/game/{game.game}", env=home(tmp_path))

        assert ran.stdout.startswith("You watch ")
        assert other.requests
        assert all("Authorization" not in request.headers for request in other.requests)


def test_a_refusal_is_escaped_and_cut(game: HostedGame, tmp_path: Path) -> None:
    """It is the server's own text."""
    game.proxy.replace("/join", problem(400, "nameRefused", f"No{ESCAPES} {'a' * 100_000}"))

    words = refused(tmp_path, game.invitation, code=2)

    assert words.startswith(f"no{SHOWN} aaa")
    assert len(words) < 1000


# Impossible answers


WON = {"winner": "X", "over": True}

IMPOSSIBLE: dict[str, Callable[[dict[str, Any]], object]] = {
    "a version in words": lambda view: view.update(version="three"),
    "no moves": lambda view: view.update(moves=None),
    "a taken cell": lambda view: view.update(moves=[4, 4]),
    "a win without moves": lambda view: view.update(WON),
    "no room": lambda view: view.update(room=None),
    "a room without seats": lambda view: view.update(room={"seats": {}, "score": {}}),
    "a negative score": lambda view: view["room"].update(score={"X": -1, "O": 0, "draws": 0}),
    "an offer of nobody": lambda view: view["room"].update(offer={"kind": "takeBack", "mark": "Z"}),
    "a path for the next game": lambda view: view["room"].update(next="../../x"),
    "an unknown mark": lambda view: view.update(you=[ESCAPES]),
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_an_impossible_game(
    game: HostedGame, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    """Nothing of it is shown."""
    game.proxy.replace(game.game, changed(change))

    refused(tmp_path, game.address, code=1)


@pytest.mark.parametrize(
    "secrets", [None, {}, {"O": 7}, {"O": ""}, {"O": "a\r\nCookie: b"}, {"O": "a" * 1000}, {"X": "x"}]
)
def test_a_seat_without_a_valid_secret(game: HostedGame, tmp_path: Path, secrets: object) -> None:
    """It could not be played."""
    game.proxy.replace("/join", changed(lambda seat: seat.update(secrets=secrets)))

    refused(tmp_path, game.invitation, code=1)


@pytest.mark.parametrize(
    "open_games",
    [1, [1], [{"id": "../x", "name": "a", "mark": "O"}], [{"id": "x", "name": "a", "mark": "Z"}]],
)
def test_an_impossible_list(game: HostedGame, tmp_path: Path, open_games: object) -> None:
    """Nothing of it is shown."""
    game.proxy.replace("/games", changed(lambda listed: listed.update(open=open_games)))

    refused(tmp_path, game.proxy.url, code=1)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"version": None},
        {"version": 1e3},
        {"version": 10**10},
        {"version": 11, "offer": 7},
        {"version": 11, "offer": {"kind": "takeBack", "mark": "Z"}},
    ],
)
def test_an_impossible_answer_to_a_move(
    game: HostedGame, tmp_path: Path, answer: dict[str, object]
) -> None:
    """The command ends with a sentence."""
    game.proxy.replace("/moves", text(200, json.dumps(answer)))
    with game.asked(tmp_path) as session:
        session.type("1\n")

        assert session.end() == 1
    assert b"noughts: the server" in session.output


# Names


def test_names_in_a_list_are_escaped(game: HostedGame, tmp_path: Path) -> None:
    """They were accepted elsewhere, so they are not refused."""
    listed = {
        "open": [{"id": "x", "name": ESCAPES, "mark": "O"}],
        "playing": [{"id": "y", "X": "گل\u200cپری", "O": "a" * 33}],
    }
    game.proxy.replace("/games", text(200, json.dumps(listed)))

    ran = noughts("join", game.proxy.url, env=home(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"  {SHOWN} (X)\n" in ran.stdout
    assert f"  گل\u200cپری (X) against {'a' * 33} (O)\n" in ran.stdout


def named(view: dict[str, Any], x: str, o: str) -> None:
    """Change the names in a game."""
    for mark, name in (("X", x), ("O", o)):
        view["room"]["seats"][mark]["name"] = name


def test_names_in_a_game_are_escaped(game: HostedGame, tmp_path: Path) -> None:
    """For a watcher: who plays, who has won, and the score."""

    def resign(view: dict[str, Any]) -> None:
        named(view, ESCAPES, "b\x9bb")
        view.update(resigned="O", **WON)

    game.proxy.replace(game.game, changed(resign))
    game.proxy.stall("/events")

    with in_terminal("join", game.address, "--color", "never", env=home(tmp_path)) as session:
        session.expect(f"{SHOWN} Won!\r\n")
        session.expect(f"b\\x9bb resigned too early.\r\nScore: {SHOWN} 1, b\\x9bb 0, draws 0")
    assert is_clean(session.output)


def test_the_opponents_name_is_escaped(game: HostedGame, tmp_path: Path) -> None:
    """For a player: whom they play, whose turn it is, and who joins; half a character is one, too."""
    game.proxy.replace("/join", changed(lambda seat: named(seat["game"], f"{ESCAPES}\ud800", "frank")))

    with game.terminal(tmp_path) as session:
        session.expect(f"You play O against {SHOWN}\\ud800.")
        session.expect(f"Waiting for {SHOWN}\\ud800.")
        game.place(5)
        session.expect(f"{SHOWN}\\ud800 takes 5.")
        joined = encode(events.PlayerJoined(X, f"{ESCAPES}again"))
        game.proxy.send_message(_event(9, joined) + _position(9))
        session.expect(f"{SHOWN}again plays X.")
    assert is_clean(session.output)


# Streams


def _event(version: int, event: object) -> bytes:
    return f"id: {version}\ndata: {json.dumps(event)}\n\n".encode()


def _position(at: int, **changes: object) -> bytes:
    """Return the position of a game in which bob has moved to 5, as a message."""
    result = {"winner": None, "resigned": None, "over": False}
    position = {"version": at, "first": "X", "moves": [4], **result, **changes}
    return f"event: position\ndata: {json.dumps(position)}\n\n".encode()


PING = b"event: ping\ndata: {}\n\n"
COUNTED = _event(9, encode(events.GamePlacedCount(1)))
LINE = [0, 3, 1, 4, 2]
POSITIONS: dict[str, dict[str, object]] = {
    "no first mark": {"first": None},
    "no moves": {"moves": None},
    "true for a cell": {"moves": [True]},
    "a cell that no board has": {"moves": [9]},
    "a taken cell": {"moves": [4, 4]},
    "a move after the end": {"moves": [*LINE, 5], **WON},
    "an endless game": {"moves": [*range(9)] * 1000},
    "a win without a line": WON,
    "a line without a win": {"moves": LINE},
    "a win of the loser": {"moves": LINE, "winner": "O", "over": True},
    "an end without a result": {"over": True},
    "a resignation without an end": {"resigned": "O"},
    "a resignation after the end": {"moves": LINE, **WON, "resigned": "O"},
    "an unknown winner": {"winner": ESCAPES, "over": True},
    "a version in words": {"version": "nine"},
}

BAD_STREAMS: dict[str, bytes] = {
    "half an object": b"id: 9\ndata: {\n\n",
    "bytes that are not text": b"id: 9\ndata: \xff\n\n",
    "an empty event": _event(9, {}),
    "an unknown event": _event(9, {"schema": 1, "event": "cakeEaten"}),
    "a gap": _event(10, encode(events.PlayerActive(O))),
    "no version": b"data: {}\n\n",
    "a bad version": b"id: \x1b[2J\ndata: {}\n\n",
    "an endless line": b"data: " + b"a" * 200_000,
    "an endless message": b"data: aaaaaaaa\n" * 20_000,
    "an unknown mark": _event(
        9, {"schema": 1, "event": "playerPlacedToken", "row": 0, "column": 0, "mark": "Z"}
    ),
    "events and no position": COUNTED + PING,
    "more events than a game has": b"".join(
        _event(at, encode(events.GamePlacedCount(1))) for at in range(9, 4100)
    ),
    "a position behind its events": COUNTED + _position(8),
    "a position before its events": _position(9),
    "half a position": b"event: position\ndata: {\n\n",
    "a list for a position": b"event: position\ndata: []\n\n",
    **{name: COUNTED + _position(9, **change) for name, change in POSITIONS.items()},
    "a list for a room": b"event: room\ndata: []\n\n",
    "a room with a bad offer": b'event: room\ndata: {"offer": 1}\n\n',
}


@pytest.mark.parametrize("message", BAD_STREAMS.values(), ids=BAD_STREAMS.keys())
def test_bad_streams(game: HostedGame, tmp_path: Path, message: bytes) -> None:
    """The command ends with a sentence."""
    with game.asked(tmp_path) as session:
        game.proxy.send_message(message)

        assert session.end() == 1
    assert "\r\nnoughts: the " in session.output.decode()
    assert is_clean(session.output)


def test_unknown_messages_are_ignored(game: HostedGame, tmp_path: Path) -> None:
    """A newer server may send more: comments, fields, messages."""
    with game.asked(tmp_path) as session:
        game.proxy.send_message(b": comment\r\n\r\nevent: cake\ndata: {}\n\nretry: 1\nspeed: 9\n\n\n\n")

        session.type("1\n")
        session.expect("Waiting for bob.")
        game.place(9)
        session.expect(FRANK)


# Certificates


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate of an unknown authority, with its key and the authority's own."""
    file = tmp_path_factory.mktemp("certificate") / "both.pem"
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(file))
    authority.cert_pem.write_to_path(str(file), append=True)
    return file


@pytest.fixture
def secured(server: Server, certificate: Path) -> Iterator[HostedGame]:
    """Return a game behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with HostedGame(server, tls=context) as hosted:
        yield hosted


def test_an_unknown_authority(secured: HostedGame, tmp_path: Path) -> None:
    """No secret is sent."""
    words = refused(tmp_path, secured.invitation, code=1)

    assert words.startswith("the certificate of '127.0.0.1' is not trusted: ")
    assert secured.proxy.requests == []


def test_a_certificate_of_another_host(secured: HostedGame, tmp_path: Path, certificate: Path) -> None:
    """A known authority is not enough."""
    address = secured.invitation.replace("127.0.0.1", "localhost")

    words = refused(tmp_path, address, code=1, SSL_CERT_FILE=str(certificate))

    assert words.startswith("the certificate of 'localhost' is not trusted: ")


def test_a_trusted_certificate(secured: HostedGame, tmp_path: Path, certificate: Path) -> None:
    """The whole game is played over TLS."""
    env = {**home(tmp_path), "SSL_CERT_FILE": str(certificate)}
    with in_terminal("join", secured.invitation, "--name", "frank", env=env) as session:
        session.expect(f"To come back: noughts join {secured.address}\r\n")
        session.expect("Waiting for bob.")
        secured.place(5)
        session.expect(FRANK)
        session.type("1\n")
        session.expect("Waiting for bob.")


def test_a_server_without_tls(game: HostedGame, tmp_path: Path) -> None:
    """Nothing is sent unencrypted."""
    address = game.invitation.replace("http:", "https:")

    assert refused(tmp_path, address, code=1).startswith("no secure connection to '127.0.0.1': ")
    assert game.proxy.requests == []


# Files of seats


def test_a_seat_that_cannot_be_saved_is_not_taken(game: HostedGame, tmp_path: Path) -> None:
    """The invitation stays valid."""
    (tmp_path / "noughts").write_text("")

    assert "cannot be" in refused(tmp_path, game.invitation, code=1)
    assert game.proxy.bodies("/join") == []


def test_a_seat_needs_a_home(game: HostedGame, tmp_path: Path) -> None:
    """The message says what to set."""
    words = refused(tmp_path, game.invitation, code=1, HOME="", XDG_DATA_HOME="")

    assert words == "no folder to save a seat in: set HOME"


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff", b"[" * 9999, b'{"seat":1,"game":"x","key":"k","secret":"s"}']
)
def test_a_damaged_seat_is_left_alone(game: HostedGame, tmp_path: Path, content: bytes) -> None:
    """The message names the file."""
    with game.terminal(tmp_path) as session:
        session.expect("Waiting for bob.")
    (file,) = seats(tmp_path)
    file.write_bytes(content)

    assert f"{file} is not a seat" in refused(tmp_path, game.address, code=1)
    assert file.read_bytes() == content


# Everything

WORDS = ["undo", "resign", "y", "n", "hint", "why", "why 5", "help"]
LINES = [*"123456789", *WORDS, "\x1b[2J", "", "9" * 2000]
ANSWERS: list[Rule] = [
    NOTHING,
    problem(409, "staleVersion", "The game has gone on."),
    problem(409, "cellTaken", ESCAPES),
    problem(503, "tooBusy", "Full."),
    text(200, "<p>", "text/html"),
    text(502, ""),
]


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_hostile_game(
    game: HostedGame, tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    """No traceback, the right exit code and clean output, whatever breaks, is typed or is answered."""
    rng = Random(seed)
    piped = rng.random() < 0.3
    allowed = {0, 2}  # 2: a stale version twice in a row
    arguments = "join", game.invitation, "--name", "frank", "--color", "never"
    with (between_pipes if piped else in_terminal)(*arguments, env=home(tmp_path)) as session:
        session.expect("Waiting for bob.")
        secret = game.frank(tmp_path).client.secret
        for _ in range(rng.randint(0, 30)):
            _disturb(rng, game)
            session.type(f"{rng.choice(LINES)}\n")
        leave = rng.choice([b"quit\n", CTRL_D, CTRL_C])
        if leave == b"quit\n" or not piped:
            session.type(b"\n" + leave)
            allowed |= {130} if leave == CTRL_C else set()
        else:
            session.end_input()
        code = session.end()
    shown = session.output.decode()
    record_property("exit code", code)
    record_property("traceback", "Traceback" in shown)

    assert "Traceback" not in shown
    assert code in allowed, shown
    assert is_clean(session.output, "\n" if piped else "\r\n"), shown
    assert secret
    assert secret not in shown


def _disturb(rng: Random, game: HostedGame) -> None:
    """Let bob act, which the server may refuse; or break a connection; or replace an answer."""
    view = game.client.read(game.game)
    match rng.randrange(8):
        case 0:
            game.proxy.cut_streams()
        case 1:
            path = rng.choice(["/moves", "/events", "/take-back", "/resign", "/rematch"])
            game.proxy.replace(path, rng.choice(ANSWERS))
        case 2:
            game.go()
            if rng.random() < 0.5:
                game.come()
        case 3 if not view["over"]:
            game.take_back()
        case 4 if view["over"]:
            game.rematch()
        case 5 if view["active"] == "O":
            game.answer(accept=rng.random() < 0.5)
        case 6 if not view["over"] and rng.random() < 0.1:
            game.resign()
        case _ if view["active"] == "X":
            game.move(rng.choice([cell for cell in range(9) if cell not in view["moves"]]))
