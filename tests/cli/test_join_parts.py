"""The parts of the client of `noughts join`, each on its own."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from threading import Event

import pytest
from hypothesis import given, strategies as st

from noughts import (
    Board,
    Command,
    CreateGame,
    Game,
    Mark,
    NoughtsError,
    O,
    PlaceToken,
    Resign,
    X,
    decide,
    events,
    fold,
)
from noughts.cli.input import MAX_BUFFERED_LINES, LineBuffer, UnreadableLine
from noughts.cli.remote import messages
from noughts.cli.remote.address import BadAddress, parse_address
from noughts.cli.remote.background import (
    INBOX_UPDATES,
    Call,
    Disconnected,
    GameChanged,
    GameStream,
    Inbox,
    PendingCall,
    Reconnected,
    RoomChanged,
    Update,
)
from noughts.cli.remote.client import (
    BadResponse,
    Client,
    StreamMessage,
    TimedOut,
    Unreachable,
    parse_stream,
)
from support.deadlines import LONG_DEADLINE_SECONDS
from support.remote import HostedGame

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
    """It can be parsed again, without the invitation."""
    read = parse_address(written)

    assert (str(read), read.game, read.invite) == (address, game, invite)
    assert parse_address(address) == read.replace(invite=None)


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    """The error is printable."""
    for written in (text, f"http://{text}", f"http://localhost/game/{text}"):
        try:
            parse_address(written)
        except BadAddress as refusal:
            assert str(refusal).isprintable()


# Streams


@given(st.data())
def test_messages_do_not_depend_on_chunks(data: st.DataObject) -> None:
    """One chunk, or one for each byte."""
    text = b"retry: 9\n\nid: 1\ndata: a\n\n:\r\n\r\nevent: room\ndata: b\ndata: c\r\n\r\nid: 2\ndata: d"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    assert [*parse_stream(pieces)] == [
        StreamMessage("message", "1", "a"),
        StreamMessage("room", None, "b\nc"),
    ]


@given(st.lists(st.binary()))
def test_any_bytes_are_messages_or_refused(chunks: list[bytes]) -> None:
    """Nothing else is raised."""
    try:
        assert all(isinstance(message, StreamMessage) for message in parse_stream(chunks))
    except BadResponse as refusal:
        assert str(refusal).startswith("the stream ")


def client(game: HostedGame, **limits: float) -> Client:
    """Return a client of the game's server."""
    return Client(parse_address(game.address), **limits)


class Drip:
    """Sends an answer byte by byte, too slowly to ever end."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        while not Event().wait(0.02):
            yield b"X"


def test_a_slow_answer_times_out(game: HostedGame) -> None:
    """Even if every byte comes in time."""
    game.proxy.replace(game.game, Drip())

    with pytest.raises(Unreachable):
        client(game, timeout_seconds=0.5).request(f"/games/{game.game}")


def test_a_stream_that_starts_slowly_times_out(game: HostedGame) -> None:
    """Its head has the time limit of an answer."""
    game.proxy.replace("/events", Drip())

    with pytest.raises(Unreachable):
        next(client(game, timeout_seconds=0.5).stream(game.game, 0, None, lambda _: None))


def test_a_silent_stream_times_out(game: HostedGame) -> None:
    """A healthy one has regular pings."""
    received: list[StreamMessage] = []

    with pytest.raises(TimedOut):
        received += client(game, silence_seconds=0.5).stream(game.game, 0, None, lambda _: None)

    assert {message.id for message in received} == {None, "1", "2", "3"}


def test_a_silent_stream_is_reported_and_reopened(game: HostedGame) -> None:
    """The missed events follow the two reports, all at once with the game after them."""
    game.seat_frank()
    inbox, version = Inbox(), game.version
    stream = GameStream(client(game, silence_seconds=0.5), game.game, version, None, inbox)
    wait_for(inbox, RoomChanged)
    game.proxy.mute()
    game.place(5)

    updates = wait_for(inbox, GameChanged)
    stream.close()

    happened = events.PlayerPlacedToken(1, 1, X), events.GamePlacedCount(1), events.PlayerActive(O)
    moved = GameChanged(version + 3, Game(Board().place(4), (4,)), happened)
    assert updates.index(Disconnected()) < updates.index(Reconnected()) < updates.index(moved)


def wait_for(inbox: Inbox, kind: type[RoomChanged | GameChanged]) -> list[Update]:
    """Wait for an update of a kind, and return all updates up to then."""
    poll = select.poll()
    poll.register(inbox.readable, select.POLLIN)
    updates: list[Update] = []
    while not any(isinstance(update, kind) for update in updates):
        assert poll.poll(1000 * LONG_DEADLINE_SECONDS), f"it never came: {updates}"
        updates += [update for _, update in inbox.take()]
    return updates


def test_a_stream_is_closed_from_outside(game: HostedGame) -> None:
    """Its reader sees a normal end."""
    closers: list[Callable[[], None]] = []
    stream = client(game).stream(game.game, 0, None, closers.append)
    first = next(stream)

    closers[0]()

    assert len([first, *stream]) <= 5


@pytest.mark.parametrize(
    ("head", "message"),
    [(b"", b"data: {}\n\n"), (b"Transfer-Encoding: chunked\r\n", b"A\r\ndata: {}\n\n\r\n")],
    ids=["plain", "chunked"],
)
def test_a_closed_stream_ends_normally_after_a_reset(head: bytes, message: bytes) -> None:
    """Also in the middle of a chunked answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as pool:
        accepted = pool.submit(listening.accept)
        closers: list[Callable[[], None]] = []
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        stream = Client(parse_address(address)).stream("thegame", 0, None, closers.append)
        first = pool.submit(next, stream)
        connection, _ = accepted.result()
        connection.recv(4096)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%b\r\n%b" % (head, message)
        )
        assert first.result().data == "{}"

        closers[0]()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

        assert [*stream] == []


# Inbox


def test_an_inbox_keeps_the_order() -> None:
    """It is not readable any more when all updates are taken."""
    inbox = Inbox()
    client = Client(parse_address("http://127.0.0.1:1/"))
    sender = PendingCall(client, Call("", "/"), Inbox(), once=True)
    for _ in range(INBOX_UPDATES // 2):
        inbox.put(sender, Disconnected())
        inbox.put(sender, Reconnected())

    assert [update for _, update in inbox.take()] == [Disconnected(), Reconnected()] * (
        INBOX_UPDATES // 2
    )
    assert inbox.take() == []
    with pytest.raises(BlockingIOError):
        os.read(inbox.readable, 1)


# Answers and positions


def _play(first: Mark, moves: Iterable[int], resigned: Mark | None) -> Game | None:
    """Return a game without its players, after these moves; None if one of them is refused."""
    tokens = (PlaceToken(mark, cell) for mark, cell in zip(cycle([first, first.other]), moves))
    commands: list[Command] = [CreateGame(first), *tokens]
    commands += [Resign(resigned)] if resigned else []
    game = None
    for command in commands:
        try:
            happened = decide(game, command)
        except NoughtsError:
            return None
        if isinstance(happened[0], events.PlayerNotifyIllegalMove):
            return None
        game = fold(happened, game)
    return game and game.replace(is_ready=False)


@given(
    st.data(),
    st.sampled_from(Mark),
    st.lists(st.integers(-1, 9), max_size=10) | st.permutations(range(9)),
    st.sampled_from([None, *Mark]),
)
def test_only_positions_of_games_are_read(
    data: st.DataObject, first: Mark, cells: list[int], resigned: Mark | None
) -> None:
    """One that is changed in any field is refused, unless it is that of another game."""
    lengths = range(len(cells), -1, -1)
    game = next(found for length in lengths if (found := _play(first, cells[:length], None)))
    game = _play(first, game.moves, resigned) or game
    written = {"version": 7, "first": first, "moves": [*game.moves], "winner": game.winner}
    written |= {"resigned": game.resigned, "over": game.is_over}
    assert messages.read_position(json.dumps(written), 7) == game

    changed = st.sampled_from([None, "X", "O", True, False, 6, cells, [*game.moves, 0]])
    written[data.draw(st.sampled_from([*written]))] = data.draw(changed)
    try:
        read = messages.read_position(json.dumps(written), 7)
    except BadResponse as refusal:
        assert str(refusal).isprintable()
    else:
        assert read == _play(read.board.first, read.moves, read.resigned)
        assert written["version"] == 7


VIEW = {
    "version": 20,
    "first": "X",
    "moves": [0, 3, 1, 4, 2],
    "winner": "X",
    "resigned": None,
    "over": True,
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
SEAT = {"id": "x", "marks": ["X"], "secrets": {"X": "s"}, "invite": None, "game": VIEW}
RESULT = {"version": 1, "events": [], "offer": {"kind": "takeBack", "mark": "O"}}
LISTED = {"open": [{"id": "x", "name": "a", "mark": "O"}], "playing": [{"id": "y", "X": "a", "O": "b"}]}
READERS = [
    (messages.read_snapshot, VIEW),
    (messages.read_granted_seat, SEAT),
    (messages.read_result, RESULT),
    (messages.read_open_games, LISTED),
    (messages.read_games_in_progress, LISTED),
]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@pytest.mark.parametrize(("reader", "good"), READERS)
@given(st.data())
def test_answers_are_read_or_refused(
    reader: Callable[[dict[str, object]], object], good: dict[str, object], data: st.DataObject
) -> None:
    """Whichever value of a good answer is replaced."""
    assert reader(good)
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


def _typed(*pieces: bytes) -> tuple[LineBuffer, list[str]]:
    """Return the lines read from input that arrives in these pieces."""
    reading, writing = os.pipe()
    typed, lines = LineBuffer(reading), []
    try:
        for piece in pieces:
            os.write(writing, piece)
            typed.feed()
            while typed:
                try:
                    lines.append(typed.next_line())
                except UnreadableLine:
                    lines.append("?")
        os.close(writing)
        typed.feed()
        lines += [typed.next_line() for _ in range(bool(typed))]
    finally:
        os.close(reading)
    return typed, lines


def test_lines_are_read_when_they_are_complete() -> None:
    """The last line counts at the end of input, even without a line break."""
    typed, lines = _typed(b"5", b"\n\nhi", b"nt\r\nqu", b"it")

    assert lines == ["5", "", "hint", "quit"]
    assert typed.has_ended
    assert typed.sources == []


def test_a_long_line_is_not_kept_in_memory() -> None:
    """It is one line, and refused."""
    _, lines = _typed(*([b"5" * 60_000] * 3), b"\n5\n", b"\xff\n")

    assert lines == ["?", "5", "?"]


def test_unread_lines_stay_in_the_pipe() -> None:
    """Typing far ahead does not fill our memory."""
    reading, writing = os.pipe()
    typed = LineBuffer(reading)
    os.write(writing, b"5\n" * MAX_BUFFERED_LINES)
    assert typed.sources == [reading]

    typed.feed()

    assert typed.sources == []
    typed.next_line()
    assert typed.sources == [reading]
    os.close(reading)
    os.close(writing)
