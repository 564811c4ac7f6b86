"""Servers that mean harm, or are none: one sentence, a fit exit code, nothing that a terminal obeys."""

from __future__ import annotations

import json
import os
import socket
import ssl
from contextlib import closing, suppress
from random import Random
from typing import TYPE_CHECKING

import pytest
import trustme

from noughts import O, PlaceToken, Resign, TakeBack, X, encode, events
from noughts.core.errors import CommandRefused
from support.far_server import (
    INVITE,
    SECRETS,
    FarServer,
    Handler,
    hang_up,
    home,
    joined,
    problem,
    raw,
    text,
)
from support.forked import noughts
from support.pseudo_terminal import CTRL_C, CTRL_D, between_pipes, in_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from noughts import Game
    from support.far_server import Harm

QUESTION = "frank, enter a position from 1 to 9: "
ESCAPES = "\x1b[2J\x1b]0;title\x07\u202e"

RUNS = 500 if os.environ.get("NOUGHTS_TORTURE") else 12


@pytest.fixture
def server() -> Iterator[FarServer]:
    """Return a server where bob, who plays X and starts, waits for an O."""
    with FarServer() as running:
        yield running


def refused(folder: Path, *arguments: str, code: int, **changes: str) -> str:
    """Run the command, which must end with that code and one clean sentence, and return this."""
    ran = noughts("join", *arguments, env={**home(folder), **changes})
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith("noughts: ")
    assert ran.stderr.count("\n") == 1
    assert ran.stderr[:-1].isprintable()
    assert INVITE not in ran.stderr
    return ran.stderr.removeprefix("noughts: ").rstrip("\n")


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
        f"http://127.0.0.1/#{INVITE}",
        f"http://127.0.0.1/game/abc#{INVITE}/..",
    ],
)
def test_what_is_no_address_is_refused(tmp_path: Path, address: str) -> None:
    """With 2, before anybody is asked, and without the code of an invitation."""
    refused(tmp_path, address, code=2)


@pytest.mark.parametrize("option", ["--friend", "--bot=club"])
def test_a_new_game_needs_no_old_one(tmp_path: Path, option: str) -> None:
    """A game's address and the wish for a new one do not go together."""
    assert "makes a new game" in refused(tmp_path, "http://127.0.0.1/game/abc", option, code=2)


def test_a_name_that_cannot_be_shown_is_refused(server: FarServer, tmp_path: Path) -> None:
    """Before the seat is asked for."""
    assert "a name can" in refused(tmp_path, server.invitation, "--name", ESCAPES, code=2)
    assert server.asked == []


# Nobody there, or somebody else


def test_an_unknown_host_is_told(tmp_path: Path) -> None:
    """With 1: it may be known another time."""
    words = refused(tmp_path, "http://nonesuch.invalid/game/abc", code=1)

    assert words == "the host 'nonesuch.invalid' is unknown"


def test_a_server_that_does_not_run_is_told(tmp_path: Path) -> None:
    """With 1, and why."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

    words = refused(tmp_path, f"http://127.0.0.1:{port}/game/abc", code=1)

    assert words == f"http://127.0.0.1:{port} cannot be reached: Connection refused"


def endless(handler: Handler) -> None:
    """Answer without an end."""
    handler.say(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while True:
        handler.say(b"0," * 4096)


def endless_head(handler: Handler) -> None:
    """Answer with headers without an end."""
    handler.say(b"HTTP/1.1 200 OK\r\n")
    while True:
        handler.say(b"X-More: " + b"a" * 4096 + b"\r\n")


def cut_short(handler: Handler) -> None:
    """Answer with less than was promised."""
    handler.say(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")


def chunked(*chunks: bytes) -> Harm:
    """Answer in chunks that are what they are."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return raw(head + b"".join(chunks))


STRANGERS: dict[str, Harm] = {
    "a page": text(200, "<h1>Welcome</h1>", "text/html"),
    "a page that is not there": text(404, "<h1>Not found</h1>", "text/html"),
    "no kind at all": text(200, "{}", ""),
    "another place": text(302, "", Location="http://127.0.0.1:1/"),
    "another place for ever": text(308, "", Location="/api/v1/games/thegame"),
    "an error": text(500, "oops", "text/plain"),
    "nothing": hang_up,
    "no HTTP": raw(b"220 mail.example ESMTP\r\n" * 3),
    "zeros": raw(bytes(100_000)),
    "half a line": raw(b"HTTP/1.1 200"),
    "a number that is none": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "HTTP of the future": raw(b"HTTP/9.9 200 OK\r\n\r\n"),
    "a line of a megabyte": raw(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_000_000),
    "a hundred thousand headers": endless_head,
    "less than promised": cut_short,
    "a length that is none": text(200, "{}", Content_Length="many"),
    "a length below nothing": text(200, "{}", Content_Length="-1"),
    "a chunk of no length": chunked(b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk below nothing": chunked(b"-5\r\n{}\r\n0\r\n\r\n"),
    "a chunk that does not come": chunked(b"ffffffffffffffff\r\n{"),
    "an answer without an end": endless,
    "no JSON": text(200, "{"),
    "no text": text(200, b"\xff\xfe"),
    "a list": text(200, "[]"),
    "nothing in it": text(200, "{}"),
    "a field twice": text(200, '{"id":1,"id":2}'),
    "no number": text(200, '{"version":NaN}'),
    "depth": text(200, "[" * 100_000),
    "a long number": text(200, '{"version":' + "9" * 5000 + "}"),
    "a refusal that says nothing": text(404, "{}", "application/problem+json"),
    "a refusal of the wrong kind": text(404, '{"code":[],"detail":{}}', "application/problem+json"),
    "a limit": problem(429, "tooMany", f"Too many.{ESCAPES}", Retry_After="99999999999999"),
    "a full store": problem(503, "tooBusy", "Full.", Retry_After="soon"),
}


@pytest.mark.parametrize("harm", STRANGERS.values(), ids=STRANGERS.keys())
def test_whoever_is_no_server_of_noughts_is_told_from_one(
    server: FarServer, tmp_path: Path, harm: Harm
) -> None:
    """With 1, whatever comes instead of a game."""
    server.harm["/thegame"].append(harm)

    refused(tmp_path, server.watching, code=1)


def test_nobody_is_sent_elsewhere_with_a_secret(server: FarServer, tmp_path: Path) -> None:
    """A redirect is not followed, and another server never hears of the seat."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
    with FarServer() as other:
        server.harm["/thegame"].append(text(307, "", Location=other.watching))

        words = refused(tmp_path, server.watching, code=1)

        assert other.asked == []
    assert words == f"{server.url} redirects to another address, which is not followed"


def test_a_seat_is_a_seat_at_its_own_server_only(server: FarServer, tmp_path: Path) -> None:
    """Another server with a game of the same name is told no secret."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
    with FarServer() as other:
        ran = noughts("join", other.watching, env=home(tmp_path))

        assert ran.stdout.startswith("You watch ")
        assert all("Authorization" not in headers for _, headers, _ in other.asked)


def test_a_game_that_is_not_there_is_told(server: FarServer, tmp_path: Path) -> None:
    """With 2, as everywhere."""
    words = refused(tmp_path, f"{server.url}/game/nonesuch", code=2)

    assert words == f"no such game at {server.url}"


def test_a_refusal_is_told_in_the_servers_words(server: FarServer, tmp_path: Path) -> None:
    """What a terminal would obey is shown in escapes, and no more of it than a line or two."""
    server.harm["/join"].append(problem(400, "nameRefused", f"No{ESCAPES} {'a' * 100_000}"))

    words = refused(tmp_path, server.invitation, code=2)

    assert words.startswith("no\\x1b[2J\\x1b]0;title\\x07\\u202e aaa")
    assert len(words) < 1000


# Answers that cannot be


def _changed(server: FarServer, change: Callable[[dict[str, object]], object]) -> Harm:
    """Return the harm of a game in which something is not as it should be."""
    view = server.game.view([])
    change(view)
    return text(200, json.dumps(view))


IMPOSSIBLE: dict[str, Callable[[dict[str, object]], object]] = {
    "a version of its own": lambda view: view.update(version=99),
    "no events": lambda view: view.update(events=[], version=0),
    "events that are none": lambda view: view.update(events=[1, 2, 3], version=3),
    "an unknown event": lambda view: view.update(events=[{"schema": 1, "event": "cakeEaten"}], version=1),
    "a win out of nothing": lambda view: view.update(
        events=[encode(events.GameCreated()), encode(events.GameWon(X))], version=2
    ),
    "half a character for a name": lambda view: view.update(
        events=[
            encode(events.GameCreated()),
            encode(events.PlayerActive(X)),
            {"schema": 1, "event": "playerJoined", "mark": "X", "name": "\ud800"},
        ],
        version=3,
    ),
    "no room": lambda view: view.update(room=None),
    "a room without seats": lambda view: view.update(room={"seats": {}, "score": {}}),
    "a score below nothing": lambda view: view["room"].update(  # type: ignore[attr-defined]
        score={"X": -1, "O": 0, "draws": 0}
    ),
    "an offer of a stranger": lambda view: view["room"].update(  # type: ignore[attr-defined]
        offer={"kind": "takeBack", "mark": "Z"}
    ),
    "a next game that is a path": lambda view: view["room"].update(  # type: ignore[attr-defined]
        next="../../x"
    ),
    "a stranger who is you": lambda view: view.update(you=[ESCAPES]),
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_a_game_that_cannot_be_is_refused(
    server: FarServer, tmp_path: Path, change: Callable[[dict[str, object]], object]
) -> None:
    """With 1, and nothing of it is shown."""
    server.harm["/thegame"].append(_changed(server, change))

    refused(tmp_path, server.watching, code=1)


@pytest.mark.parametrize(
    "secrets", [None, {}, {"O": 7}, {"O": ""}, {"O": "a\r\nCookie: b"}, {"O": "a" * 1000}, {"X": "x"}]
)
def test_a_seat_without_a_good_secret_is_refused(
    server: FarServer, tmp_path: Path, secrets: object
) -> None:
    """It could not be played at."""
    answer = {"id": "thegame", "marks": ["O"], "secrets": secrets, "game": server.game.view(["O"])}
    server.harm["/join"].append(text(200, json.dumps(answer)))

    refused(tmp_path, server.invitation, code=1)


@pytest.mark.parametrize(
    "listed",
    [
        {"open": 1, "playing": []},
        {"open": [1], "playing": []},
        {"open": [{"id": "../x", "name": "a", "mark": "O"}], "playing": []},
        {"open": [{"id": "x", "name": "a", "mark": "Z"}], "playing": []},
    ],
)
def test_a_list_that_cannot_be_is_refused(
    server: FarServer, tmp_path: Path, listed: dict[str, object]
) -> None:
    """No name in it reaches the terminal unless it can be shown."""
    server.harm["/games"].append(text(200, json.dumps(listed)))

    refused(tmp_path, server.url, code=1)


SHOWN = "\\x1b[2J\\x1b]0;title\\x07\\u202e"


def test_a_name_in_a_list_is_shown_without_being_obeyed(server: FarServer, tmp_path: Path) -> None:
    """Names of a server were entered elsewhere: they are escaped, and not refused."""
    listed = {
        "open": [{"id": "x", "name": ESCAPES, "mark": "O"}],
        "playing": [{"id": "y", "X": "گل\u200cپری", "O": "a" * 33}],
    }
    server.harm["/games"].append(text(200, json.dumps(listed)))

    ran = noughts("join", server.url, env=home(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"  {SHOWN} (X)\n" in ran.stdout
    assert f"  گل\u200cپری (X) against {'a' * 33} (O)\n" in ran.stdout


def test_a_name_in_a_game_is_shown_without_being_obeyed(server: FarServer, tmp_path: Path) -> None:
    """Wherever it is shown: who plays, whose turn it is, who joins and who won."""
    history: list[events.Event] = [
        events.GameCreated(),
        events.PlayerActive(X),
        events.PlayerJoined(X, ESCAPES),
        events.PlayerJoined(O, "b\x9bb"),
        events.GameReady(),
        events.PlayerResigned(O),
        events.GameWon(X),
        events.GameLost(O),
        events.GameCompleted(),
    ]
    view = server.game.view([])
    server.harm["/thegame"].append(
        text(200, json.dumps({**view, "events": [encode(event) for event in history], "version": 9}))
    )

    with in_terminal("join", server.watching, "--color", "never", env=home(tmp_path)) as session:
        session.expect(f"{SHOWN} Won!\r\nScore: {SHOWN} 1, b\\x9bb 0, draws 0")
    assert all(line.isprintable() for line in session.output.decode().split("\r\n"))


def test_an_opponents_name_is_shown_without_being_obeyed(server: FarServer, tmp_path: Path) -> None:
    """Also to who takes a seat: whom they play, whose turn it is, and who comes later."""
    history: list[events.Event] = [
        events.GameCreated(),
        events.PlayerActive(X),
        events.PlayerJoined(X, ESCAPES),
        events.PlayerJoined(O, "frank"),
        events.GameReady(),
    ]
    view = {**server.game.view(["O"]), "events": [encode(event) for event in history], "version": 5}
    answer = {"id": "thegame", "marks": ["O"], "secrets": {"O": SECRETS["O"]}, "game": view}
    server.harm["/join"].append(text(200, json.dumps(answer)))

    with joined(server, tmp_path) as session:
        session.expect(f"You play O against {SHOWN}.")
        session.expect(f"Waiting for {SHOWN}.")
    assert all(line.isprintable() for line in session.output.decode().split("\r\n"))


def _event(version: int, written: object) -> bytes:
    return f"id: {version}\ndata: {json.dumps(written)}\n\n".encode()


BAD_STREAMS: dict[str, bytes] = {
    "no JSON": b"id: 9\ndata: {\n\n",
    "no text": b"id: 9\ndata: \xff\n\n",
    "no event": _event(9, {}),
    "an unknown event": _event(9, {"schema": 1, "event": "cakeEaten"}),
    "a gap": _event(10, encode(events.PlayerActive(O))),
    "no version": b"data: {}\n\n",
    "a version that is none": b"id: \x1b[2J\ndata: {}\n\n",
    "a line without an end": b"data: " + b"a" * 200_000,
    "a message without an end": b"data: aaaaaaaa\n" * 20_000,
    "a token on a token": _event(9, encode(events.PlayerPlacedToken(1, 1, O))),
    "a token of a stranger": _event(
        9, {"schema": 1, "event": "playerPlacedToken", "row": 0, "column": 0, "mark": "Z"}
    ),
    "a win out of nothing": _event(9, encode(events.GameWon(O)))
    + _event(10, encode(events.GameCompleted())),
    "an end out of nothing": _event(9, encode(events.GameCompleted())),
    "a third player": _event(9, {"schema": 1, "event": "playerJoined", "mark": "X", "name": "eve"}),
    "a name with escapes": _event(
        9, {"schema": 1, "event": "playerJoined", "mark": "X", "name": ESCAPES}
    ),
    "a second beginning": _event(9, encode(events.GameCreated())),
    "counting without an end": b"".join(
        _event(9 + more, encode(events.GamePlacedCount(1))) for more in range(4)
    )
    + _event(13, encode(events.GameWon(O))),
    "a room that is none": b"event: room\ndata: []\n\n",
    "a room with an offer that is none": b'event: room\ndata: {"offer": 1}\n\n',
}


@pytest.mark.parametrize("said", BAD_STREAMS.values(), ids=BAD_STREAMS.keys())
def test_a_stream_that_cannot_be_ends_the_game_with_a_sentence(
    server: FarServer, tmp_path: Path, said: bytes
) -> None:
    """With 1; the game stays what it was, for a better server."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
        server.place(5)
        session.expect(QUESTION)

        server.push(said)

        assert session.end() == 1
    last = session.output.decode().splitlines()[-1]
    assert last.startswith("noughts: the ")
    assert all(line.isprintable() for line in session.output.decode().split("\r\n"))


def test_what_is_not_known_in_a_stream_is_passed_over(server: FarServer, tmp_path: Path) -> None:
    """A newer server may say more: comments, other fields, other messages."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")

        server.push(b": still here\r\n\r\nevent: cake\ndata: {}\n\nretry: 1\nspeed: 9\n\n\n\n")
        server.place(5)

        session.expect(QUESTION)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"version": 11, "events": 1},
        {"version": 11, "events": [{}]},
        {"version": 11, "events": [], "offer": 7},
        {"version": 9, "events": [encode(events.PlayerPlacedToken(2, 2, X))]},
    ],
)
def test_an_answer_to_a_move_that_cannot_be_ends_the_game(
    server: FarServer, tmp_path: Path, answer: dict[str, object]
) -> None:
    """With 1, and a sentence."""
    server.harm["/moves"].append(text(200, json.dumps(answer)))
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
        server.place(5)
        session.expect(QUESTION)

        session.type("1\n")

        assert session.end() == 1
    assert b"noughts: the server" in session.output


# Certificates


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate that nobody knows the signer of, with its key and the signer's own."""
    file = tmp_path_factory.mktemp("certificate") / "both.pem"
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(file))
    authority.cert_pem.write_to_path(str(file), append=True)
    return file


@pytest.fixture
def secured(certificate: Path) -> Iterator[FarServer]:
    """Return the same server behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with FarServer(context) as running:
        yield running


def test_a_certificate_that_nobody_trusts_is_refused(secured: FarServer, tmp_path: Path) -> None:
    """With 1, and no secret is sent."""
    words = refused(tmp_path, secured.invitation, code=1)

    assert words.startswith("the certificate of '127.0.0.1' is not trusted: ")
    assert secured.asked == []


def test_a_certificate_for_another_host_is_refused(
    secured: FarServer, tmp_path: Path, certificate: Path
) -> None:
    """The host has to be the one that was asked for."""
    address = secured.invitation.replace("127.0.0.1", "localhost")

    words = refused(tmp_path, address, code=1, SSL_CERT_FILE=str(certificate))

    assert words.startswith("the certificate of 'localhost' is not trusted: ")


def test_a_certificate_that_is_trusted_is_good(
    secured: FarServer, tmp_path: Path, certificate: Path
) -> None:
    """Then the whole game is played behind it."""
    env = {**home(tmp_path), "SSL_CERT_FILE": str(certificate)}
    with in_terminal("join", secured.invitation, "--name", "frank", env=env) as session:
        session.expect(f"To come back: noughts join {secured.watching}\r\n")
        session.expect("Waiting for bob.")
        secured.place(5)
        session.expect(QUESTION)
        session.type("1\n")
        session.expect("Waiting for bob.")


def test_a_server_without_a_certificate_is_told(server: FarServer, tmp_path: Path) -> None:
    """Nothing is said in the clear to a server that was to be secured."""
    address = server.invitation.replace("http:", "https:")

    assert refused(tmp_path, address, code=1).startswith("no secure connection to '127.0.0.1': ")
    assert server.asked == []


# Where seats are kept


def test_a_seat_that_cannot_be_kept_is_not_taken(server: FarServer, tmp_path: Path) -> None:
    """The invitation is good still, for a better place."""
    (tmp_path / "noughts").write_text("")

    assert "cannot be" in refused(tmp_path, server.invitation, code=1)
    assert server.bodies("/join") == []


def test_without_a_home_there_is_no_seat(server: FarServer, tmp_path: Path) -> None:
    """With 1, and what to do."""
    words = refused(tmp_path, server.invitation, code=1, HOME="", XDG_DATA_HOME="")

    assert words == "no folder to save a seat in: set HOME"


@pytest.mark.parametrize(
    "written", [b"", b"{}", b"\xff", b"[" * 9999, b'{"seat":1,"game":"x","key":"k","secret":"s"}']
)
def test_a_file_that_holds_no_seat_is_told(server: FarServer, tmp_path: Path, written: bytes) -> None:
    """It is named, and left as it is."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
    (file,) = (tmp_path / "noughts" / "seats").iterdir()
    file.write_bytes(written)

    assert f"{file} is not a seat of this game" in refused(tmp_path, server.watching, code=1)
    assert file.read_bytes() == written


# All of it at once

LINES = [
    *"123456789",
    "undo",
    "resign",
    "y",
    "n",
    "hint",
    "why",
    "why 5",
    "help",
    "\x1b[2J",
    "",
    "9" * 2000,
]
HARMS: list[Harm] = [
    hang_up,
    problem(409, "staleVersion", "The game has gone on."),
    problem(409, "cellTaken", ESCAPES),
    problem(503, "tooBusy", "Full."),
    text(200, "<p>", "text/html"),
    text(502, ""),
]


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_hostile_game_ends_well(
    server: FarServer, tmp_path: Path, seed: int, record_property: Callable[[str, object], None]
) -> None:
    """Whatever breaks, is typed and is told, there is no traceback, a fit exit code and clean text."""
    rng = Random(seed)
    piped = rng.random() < 0.3
    allowed = {0, 2}  # 2: an end that the harm above brings about by itself
    arguments = "join", server.invitation, "--name", "frank", "--color", "never"
    with (between_pipes if piped else in_terminal)(*arguments, env=home(tmp_path)) as session:
        session.expect("Waiting for bob.")
        for _ in range(rng.randint(0, 30)):
            _do_harm(rng, server)
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
    assert all(line.isprintable() for line in shown.split("\n" if piped else "\r\n")), shown
    assert SECRETS["O"] not in shown


def _do_harm(rng: Random, server: FarServer) -> None:
    """Let bob do something, or the line break, or the server refuse.

    What was typed before may end the game meanwhile: then bob is too late.
    """
    with suppress(CommandRefused):
        _do_harm_to(rng, server, server.game.service.look("thegame").game)


def _do_harm_to(rng: Random, server: FarServer, game: Game) -> None:
    match rng.randrange(8):
        case 0:
            server.cut()
        case 1:
            server.harm[rng.choice(["/moves", "/events", "/take-back", "/resign", "/rematch"])].append(
                rng.choice(HARMS)
            )
        case 2:
            server.tell(present={"X": rng.random() < 0.5, "O": True})
        case 3 if not game.is_over:
            server.tell(offer={"kind": "takeBack", "mark": "X"})
        case 4 if game.is_over:
            server.rematch("X")
        case 5 if game.moves and not game.is_over and game.active is O:
            server.do(TakeBack(X))
        case 6 if not game.is_over and rng.random() < 0.1:
            server.do(Resign(X))
        case _ if game.active is X:
            server.do(PlaceToken(X, rng.choice(game.board.free_cells)))
