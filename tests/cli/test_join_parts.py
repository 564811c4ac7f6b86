"""The parts that a game on a server is put together from, each by itself."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from noughts import CreateGame, JoinGame, O, PlaceToken, X, decide, encode, events, fold
from noughts.cli.input import MOST_LINES, Typed
from noughts.cli.keyboard import UnreadableLine
from noughts.cli.remote import messages
from noughts.cli.remote.address import BadAddress, parse_address
from noughts.cli.remote.background import (
    INBOX_SIZE,
    Call,
    Disconnected,
    GameEvent,
    GameStream,
    Inbox,
    PendingCall,
    Reconnected,
    RoomChanged,
)
from noughts.cli.remote.client import BadResponse, Client, StreamMessage, Unreachable, parse_stream
from noughts.cli.remote.view import GameReplica
from support.far_server import FarServer, Handler
from support.pseudo_terminal import DEADLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from noughts import Command
    from noughts.cli.remote.background import Update


# Addresses


@pytest.mark.parametrize(
    ("written", "address", "game", "invite"),
    [
        ("http://localhost:8000/game/abc#C-_9", "http://localhost:8000/game/abc", "abc", "C-_9"),
        ("http://localhost:80/game/abc/", "http://localhost/game/abc", "abc", None),
        ("https://Noughts.Example", "https://noughts.example/", None, None),
        ("https://noughts.example:443/lobby", "https://noughts.example/", None, None),
        ("http://[::1]:8000/", "http://[::1]:8000/", None, None),
        ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/", None, None),
    ],
)
def test_an_address_has_one_form(
    written: str, address: str, game: str | None, invite: str | None
) -> None:
    """However it is written; and its form, without the invitation, is read as the same again."""
    read = parse_address(written)

    assert (str(read), read.game, read.invite) == (address, game, invite)
    assert parse_address(address) == read.replace(invite=None)


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    """And the refusal can be shown."""
    for written in (text, f"http://{text}", f"http://localhost/game/{text}"):
        try:
            parse_address(written)
        except BadAddress as refusal:
            assert str(refusal).isprintable()


# Streams


@given(st.data())
def test_messages_do_not_depend_on_how_they_come(data: st.DataObject) -> None:
    """In one piece or byte by byte."""
    said = b"retry: 9\n\nid: 1\ndata: a\n\n:\r\n\r\nevent: room\ndata: b\ndata: c\r\n\r\nid: 2\ndata: d"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)))))
    pieces = [said[start:end] for start, end in zip([0, *cuts], [*cuts, len(said)], strict=True)]

    assert [*parse_stream(pieces)] == [
        StreamMessage("message", "1", "a"),
        StreamMessage("room", None, "b\nc"),
    ]


@given(st.lists(st.binary()))
def test_any_bytes_are_messages_or_refused(chunks: list[bytes]) -> None:
    """And nothing else happens."""
    try:
        assert all(isinstance(one, StreamMessage) for one in parse_stream(chunks))
    except BadResponse as refusal:
        assert str(refusal).startswith("the stream ")


@pytest.fixture
def server() -> Iterator[FarServer]:
    """Return a server of one's own."""
    with FarServer() as running:
        yield running


def drip(handler: Handler) -> None:
    """Answer, a byte at a time, and never to the end; what is sent keeps the line alive."""
    handler.say(b"HTTP/1.1 200 OK\r\n")
    while True:
        handler.say(b"X")
        handler.server.pause.wait(0.02)


def test_an_answer_has_to_be_whole_in_time(server: FarServer) -> None:
    """A server that keeps the line alive with a byte now and then is not waited for."""
    server.harm["/thegame"].append(drip)

    with pytest.raises(Unreachable):
        Client(parse_address(server.watching), timeout_seconds=0.5).request("/games/thegame")


def test_a_stream_has_to_begin_in_time(server: FarServer) -> None:
    """The same for what comes before its first message."""
    server.harm["/events"].append(drip)
    stream = Client(parse_address(server.watching), timeout_seconds=0.5).stream(
        "thegame", 0, None, lambda _: None
    )

    with pytest.raises(Unreachable):
        next(stream)


def test_a_silent_stream_is_broken(server: FarServer) -> None:
    """A server says something now and then, if only that it is there."""
    asked = Client(parse_address(server.watching), silence_seconds=0.5)
    stream = asked.stream("thegame", 0, None, lambda _: None)

    with pytest.raises(Unreachable):
        assert [message.id for message in stream] == ["1", "2", "3", None]


def test_a_stream_that_goes_mute_is_reported_and_opened_again(server: FarServer) -> None:
    """The break and its end are news, and what happened meanwhile comes after them."""
    server.seat_frank()
    version = server.game.service.look("thegame").version
    inbox = Inbox()
    stream = GameStream(
        Client(parse_address(server.watching), silence_seconds=0.5), "thegame", version, None, inbox
    )
    wait_for_news(inbox, RoomChanged)
    server.mute()
    server.place(5)

    news = wait_for_news(inbox, GameEvent)
    stream.close()

    moved = GameEvent(version + 1, events.PlayerPlacedToken(1, 1, X))
    assert news.index(Disconnected()) < news.index(Reconnected()) < news.index(moved)


def wait_for_news(inbox: Inbox, kind: type[RoomChanged | GameEvent]) -> list[Update]:
    """Wait until there is some news of a kind, and return all that came until then."""
    bell = select.poll()
    bell.register(inbox.readable, select.POLLIN)
    news: list[Update] = []
    while not any(isinstance(one, kind) for one in news):
        assert bell.poll(1000 * DEADLINE), f"it never came: {news}"
        news += [one for _, one in inbox.take()]
    return news


def test_a_stream_can_be_ended_from_outside(server: FarServer) -> None:
    """Whoever waits for its next message is told that there is none."""
    ends: list[Callable[[], None]] = []
    stream = Client(parse_address(server.watching)).stream("thegame", 0, None, ends.append)
    first = next(stream)

    ends[0]()

    assert len([first, *stream]) <= 4


@pytest.mark.parametrize(
    ("head", "message"),
    [(b"", b"data: {}\n\n"), (b"Transfer-Encoding: chunked\r\n", b"A\r\ndata: {}\n\n\r\n")],
    ids=["plain", "chunked"],
)
def test_a_stream_that_was_ended_is_not_broken_whatever_the_other_side_does(
    head: bytes, message: bytes
) -> None:
    """It may answer what it hears of that with a reset, and never end what it has begun."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as pool:
        accepted = pool.submit(listening.accept)
        ends: list[Callable[[], None]] = []
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        stream = Client(parse_address(address)).stream("thegame", 0, None, ends.append)
        first = pool.submit(next, stream)
        line, _ = accepted.result()
        line.recv(4096)
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%b\r\n%b" % (head, message))
        assert first.result().data == "{}"

        ends[0]()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()

        assert [*stream] == []


# News


def test_news_come_in_order_and_the_bell_is_still_when_all_are_taken() -> None:
    """However many there are."""
    inbox = Inbox()
    sender = PendingCall(Client(parse_address("http://127.0.0.1:1/")), Call("", "/"), Inbox(), once=True)
    for _ in range(INBOX_SIZE // 2):
        inbox.put(sender, Disconnected())
        inbox.put(sender, Reconnected())

    taken = [news for _, news in inbox.take()]

    assert taken == [Disconnected(), Reconnected()] * (INBOX_SIZE // 2)
    assert inbox.take() == []
    with pytest.raises(BlockingIOError):
        os.read(inbox.readable, 1)


# The game as it is told


def _told() -> list[events.Event]:
    """Return a game to the middle of which O may win."""
    game = fold(decide(None, CreateGame(open_seats=True)))
    told = [*decide(None, CreateGame(open_seats=True))]
    commands: list[Command] = [JoinGame(X, "bob"), JoinGame(O, "frank")]
    commands += [PlaceToken(mark, cell) for mark, cell in ((X, 0), (O, 3), (X, 1), (O, 4), (X, 2))]
    for command in commands:
        new = decide(game, command)
        game = fold(new, game)
        told += new
    return told


def test_a_game_is_seen_from_command_to_command() -> None:
    """Never between a token and the win that it is; what comes twice counts once."""
    told = _told()
    start = fold(told[:2])
    assert start
    following = GameReplica(2, start)

    groups = [
        group
        for version, event in enumerate(told[2:], start=3)
        for _ in range(2)
        if (group := following.apply(version, event))
    ]

    assert [event for group in groups for event in group] == told[2:]
    assert following.version == len(told)
    assert following.game == fold(told)
    assert [str(event) for event in groups[-1]] == [
        "playerPlacedToken(0,2,X)",
        "gamePlacedCount(5)",
        "gameWon(X)",
        "gameLost(O)",
        "gameCompleted(true)",
    ]


@given(st.data())
def test_no_events_lead_to_a_game_that_cannot_be_shown(data: st.DataObject) -> None:
    """Whatever order they come in, it is a game that can be told, or a refusal."""
    told = data.draw(st.lists(st.sampled_from(_told()[1:])))
    start = fold(_told()[:5])
    assert start
    following = GameReplica(5, start)
    try:
        for version, event in enumerate(told, start=6):
            following.apply(version, event)
            game = following.game
            assert game.is_over == (game.board.is_over or game.resigned is not None)
            assert game.winner == (game.resigned.other if game.resigned else game.board.winner)
    except BadResponse:
        pass


# Answers


VIEW = {
    "version": len(_told()),
    "events": [encode(event) for event in _told()],
    "you": ["X"],
    "room": {
        "seats": {mark: {"name": "a", "bot": None, "taken": True, "present": True} for mark in "XO"},
        "lobby": False,
        "watching": 0,
        "offer": {"kind": "rematch", "mark": "O"},
        "score": {"X": 0, "O": 0, "draws": 0},
        "next": None,
    },
}
SEATED = {"id": "x", "marks": ["X"], "secrets": {"X": "s"}, "invite": None, "game": VIEW}
MOVED = {"version": 1, "events": [encode(events.GameCreated())], "offer": None}
LISTED = {"open": [{"id": "x", "name": "a", "mark": "O"}], "playing": [{"id": "y", "X": "a", "O": "b"}]}
READERS = [
    (messages.read_snapshot, VIEW),
    (messages.read_granted_seat, SEATED),
    (messages.read_result, MOVED),
    (messages.read_open_games, LISTED),
    (messages.read_games_in_progress, LISTED),
]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@pytest.mark.parametrize(("reader", "good"), READERS)
def test_a_good_answer_is_read(reader: object, good: dict[str, object]) -> None:
    """As it was agreed."""
    assert callable(reader)
    assert reader(good)


@pytest.mark.parametrize(("reader", "good"), READERS)
@given(st.data())
def test_an_answer_that_is_not_as_agreed_is_refused(
    reader: object, good: dict[str, object], data: st.DataObject
) -> None:
    """Whichever part of it is something else; if it does not matter, it is read."""
    assert callable(reader)
    answer = json.loads(json.dumps(good))
    at = answer
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(anything)
    try:
        reader(answer)
    except BadResponse as refusal:
        assert str(refusal).isprintable()


# What is typed


def _typed(*pieces: bytes) -> tuple[Typed, list[str]]:
    """Return what is heard of pieces that come one after the other."""
    reading, writing = os.pipe()
    typed, heard = Typed(reading), []
    try:
        for piece in pieces:
            os.write(writing, piece)
            typed.take_in()
            while typed:
                try:
                    heard.append(typed.next_line())
                except UnreadableLine:
                    heard.append("?")
        os.close(writing)
        typed.take_in()
        heard += [typed.next_line() for _ in range(bool(typed))]
    finally:
        os.close(reading)
    return typed, heard


def test_lines_are_heard_when_they_are_whole() -> None:
    """A last line without an end counts at the end."""
    typed, heard = _typed(b"5", b"\n\nhi", b"nt\r\nqu", b"it")

    assert heard == ["5", "", "hint", "quit"]
    assert typed.has_ended
    assert typed.sources == []


def test_of_a_long_line_no_more_is_held_than_is_needed() -> None:
    """It is one line, and refused."""
    _, heard = _typed(*([b"5" * 60_000] * 3), b"\n5\n", b"\xff\n")

    assert heard == ["?", "5", "?"]


def test_lines_that_nobody_hears_are_left_where_they_are() -> None:
    """So that whoever types far ahead fills no memory here."""
    reading, writing = os.pipe()
    typed = Typed(reading)
    os.write(writing, b"5\n" * MOST_LINES)
    assert typed.sources == [reading]

    typed.take_in()

    assert typed.sources == []
    typed.next_line()
    assert typed.sources == [reading]
    os.close(reading)
    os.close(writing)
