"""`noughts join` over connections that break: nothing is lost, and nothing counts twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from noughts.cli.remote.address import parse_address
from noughts.cli.remote.seats import SavedSeat, SeatFiles
from support.deadlines import LONG_DEADLINE_SECONDS
from support.forked import noughts
from support.length import short_or_long
from support.proxy import CuttingProxy
from support.pseudo_terminal import CTRL_C, CTRL_D, Session, between_pipes, in_terminal
from support.remote import HostedGame, Rule, home, lose, problem, seats, text
from support.web.serving import Server

FRANK = "frank, enter a position from 1 to 9: "
LOST, RECONNECTED = "Connection lost; reconnecting.\r\n", "Reconnected.\r\n"
NOTHING: Rule = []
"""Cuts the connection before the server gets the request."""
HTML = text(200, "<p>Sign in!</p>", "text/html")
STALE = problem(409, "staleVersion", "The game never was there.")
MAX_CUTS = 1_000
RUNS = short_or_long(5, 200)


@pytest.fixture
def session(game: HostedGame, tmp_path: Path) -> Iterator[Session]:
    """Return the terminal of frank, who has taken O's seat and is to move."""
    with game.asked(tmp_path) as running:
        yield running


# Streams


def test_a_short_break_is_not_shown(game: HostedGame, session: Session) -> None:
    """The stream continues after the last event, and each move is shown once."""
    for mine, theirs in ((1, 9), (2, 3)):
        session.type(f"{mine}\n")
        session.expect("Waiting for bob.\r\n")
        game.proxy.cut_streams()
        game.place(theirs)
        assert session.expect(FRANK).startswith(f"bob takes {theirs}.\r\n")

    seen = [
        int(request.headers["Last-Event-ID"])
        for request in game.proxy.requests
        if request.path.endswith("/events")
    ]
    assert seen[0] == 5
    assert seen == sorted({*seen})
    assert LOST not in session.output.decode()


@pytest.mark.waits
def test_a_long_break_is_shown_once(game: HostedGame, session: Session) -> None:
    """Moves are refused until the connection is back; then the question is asked again."""
    game.proxy.replace("/events", *[NOTHING] * 4)
    game.proxy.cut_streams()
    assert session.expect(LOST) == f"\r\n{LOST}"

    session.type("1\n")
    session.expect(LOST)
    said = session.expect(FRANK)

    assert said.count(RECONNECTED) == 1
    assert LOST not in said
    assert game.proxy.bodies("/moves") == []


@pytest.mark.parametrize(("leave", "code"), [(b"quit\n", 0), (CTRL_C, 130), (CTRL_D, 0)])
def test_the_coach_and_leaving_need_no_connection(
    game: HostedGame, session: Session, leave: bytes, code: int
) -> None:
    """Leaving says how to come back."""
    game.proxy.replace("/events", *[NOTHING] * 100)
    game.proxy.cut_streams()
    session.expect(LOST)
    session.type("hint\n")
    session.expect("Take 1: ")

    session.type(leave)

    session.expect(f"To go on: noughts join {game.address}\r\n")
    assert session.end() == code
    assert session.output.endswith(b"\r\nGoodbye!\r\n")


def test_a_page_instead_of_the_stream_is_a_break(game: HostedGame, session: Session) -> None:
    """A gateway may answer for the server."""
    game.proxy.replace("/events", *[HTML] * 3)
    game.proxy.cut_streams()

    said = session.expect(FRANK)

    assert said == f"\r\n{LOST}{RECONNECTED}\r\n{FRANK}"


def test_what_happened_in_a_break_is_seen_in_its_order(game: HostedGame, session: Session) -> None:
    """A consent, after which the room has no offer any more, is no refusal."""
    session.type("1\n")
    session.expect("Waiting for bob.")
    session.type("undo\n")
    session.expect("Asked bob to allow it.")
    stall = game.proxy.stall("/events")
    game.proxy.cut_streams()
    assert stall.reached.wait(LONG_DEADLINE_SECONDS)
    game.answer(accept=True)
    stall.release()

    said = session.expect(FRANK)

    assert "frank took back.\r\n1|2|3" in said
    assert "does not agree" not in said


def test_a_server_that_is_behind_is_read_again(game: HostedGame, session: Session) -> None:
    """It may have been restored from a backup."""
    game.proxy.replace("/events", STALE)
    game.proxy.cut_streams()

    assert session.expect(FRANK).startswith("\r\n1|2|3\r\n-+-+-\r\n4|X|6")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([STALE] * 2, "the game never was there"),
        ([problem(404, "notFound", "There is no such game.")], "there is no such game"),
    ],
    ids=["still behind", "gone"],
)
def test_a_lost_game_ends_the_command(
    game: HostedGame, session: Session, answers: list[Rule], message: str
) -> None:
    """Nothing is left to wait for."""
    game.proxy.replace("/events", *answers)
    game.proxy.cut_streams()

    session.expect(f"\r\nnoughts: {message}\r\n")
    assert session.end() == 2


# Commands


@pytest.mark.parametrize("rule", [NOTHING, lose], ids=["request lost", "answer lost"])
@pytest.mark.parametrize("breaks", [1, 3])
def test_a_repeated_move_counts_once(game: HostedGame, session: Session, rule: Rule, breaks: int) -> None:
    """It is sent with the same key until there is an answer."""
    game.proxy.replace("/moves", *[rule] * breaks)

    session.type("1\n")
    said = session.expect("Waiting for bob.\r\n")

    sent = game.proxy.bodies("/moves")
    assert sent == [sent[0]] * (breaks + 1)
    assert game.moves == [4, 0]
    assert said.count("O|2|3") == 1
    assert (LOST in said, RECONNECTED in said) == (breaks > 1, breaks > 1)


def test_temporary_failures_are_retried(game: HostedGame, session: Session) -> None:
    """With the same key."""
    busy = problem(503, "storeUnavailable", "Not now.", Retry_After="0")
    game.proxy.replace("/moves", busy, text(502, "<h1>Bad gateway</h1>", "text/html"))

    session.type("1\n")
    session.expect("Waiting for bob.\r\n")

    assert [*{body["key"] for body in game.proxy.bodies("/moves")}] == [
        game.proxy.bodies("/moves")[2]["key"]
    ]


@pytest.mark.parametrize(
    ("command", "question", "result"),
    [
        ("1", FRANK, "This game has moved on in another window; here it is now.\r\n{board}"),
        ("resign", "Play again? (y/n) ", "{board}bob Won!\r\n"),
    ],
)
def test_a_command_in_a_game_that_has_moved_on(
    game: HostedGame, session: Session, tmp_path: Path, command: str, question: str, result: str
) -> None:
    """A move is refused, a resignation counts; the game is shown as it is now."""
    stall = game.proxy.stall("/events")
    game.proxy.cut_streams()
    assert stall.reached.wait(LONG_DEADLINE_SECONDS)
    game.frank(tmp_path).move(8)
    game.place(3)

    session.type(f"{command}\n")
    said = session.expect(question)

    board = "1|2|X\r\n-+-+-\r\n4|X|6\r\n-+-+-\r\n7|8|O\r\n"
    assert said.startswith(result.format(board=board))
    assert game.moves == [4, 8, 2]


def test_a_stream_that_does_not_reach_the_answer(game: HostedGame, session: Session) -> None:
    """The game is read again."""
    game.proxy.replace("/moves", text(200, '{"version":99,"offer":null}'))

    session.type("1\n2\n")

    said = session.expect(FRANK)
    assert said.startswith("Please wait: the server has not answered yet.\r\n1|2|3\r\n-+-+-\r\n4|X|6")
    session.type("1\n")
    session.expect("Waiting for bob.\r\n")
    assert game.moves == [4, 0]


@pytest.mark.waits
def test_a_stream_that_never_reaches_an_answer(game: HostedGame, session: Session) -> None:
    """The game is read again once, and then the command ends: the server may be an old one."""
    stalls = [game.proxy.stall("/events") for _ in range(2)]
    game.proxy.cut_streams()
    for stall, typed in zip(stalls, ("1\n", "resign\n"), strict=True):
        assert stall.reached.wait(LONG_DEADLINE_SECONDS)
        session.type(typed)

    session.expect("noughts: the server does not say what the game is after a move: ")
    assert session.end() == 1
    assert game.moves == [4, 0]


def test_other_refusals_are_shown(game: HostedGame, session: Session) -> None:
    """In the server's words, with escapes."""
    game.proxy.replace("/moves", problem(409, "tooLong", "Too long\x1b[2J, says \u202ethe server."))

    session.type("1\n")

    assert session.expect(FRANK).startswith("Too long\\x1b[2J, says \\u202ethe server.\r\n1|2|3")


def test_lines_in_a_pipe_wait_for_the_answer_before(game: HostedGame, tmp_path: Path) -> None:
    """Even if it is lost at first."""
    with game.asked(tmp_path):
        pass
    game.proxy.replace("/moves", lose)
    with between_pipes("join", game.address, env=home(tmp_path)) as session:
        session.expect(FRANK.rstrip())
        session.type("1\n2\nundo\nquit\n3\n")

        assert session.end() == 0

    said = session.output.decode()
    assert "It is not your turn: bob is to move." in said
    assert "Asked bob to allow it." in said
    assert game.moves == [4, 0]
    assert game.invite not in said


# Seats


@pytest.mark.parametrize("rule", [NOTHING, lose], ids=["request lost", "answer lost"])
@pytest.mark.parametrize("path", ["/join", "/games"])
def test_a_repeated_request_for_a_seat_counts_once(
    game: HostedGame, tmp_path: Path, rule: Rule, path: str
) -> None:
    """The key stays the same."""
    game.proxy.replace(path, rule)
    arguments = [game.invitation] if path == "/join" else [game.proxy.url, "--bot", "club"]
    with in_terminal("join", *arguments, env=home(tmp_path)) as session:
        session.expect("You play O against bob." if path == "/join" else "You play X against ")

    first, second = game.proxy.bodies(path)
    assert first == second


def test_an_unanswered_seat_is_found_by_joining_again(game: HostedGame, tmp_path: Path) -> None:
    """The key was saved; somebody else with the same invitation is too late."""
    game.proxy.replace("/join", *[lose] * 3)
    lost = noughts("join", game.invitation, env=home(tmp_path))
    late = noughts("join", game.invitation, env=home(tmp_path / "late"))
    again = noughts("join", game.invitation, env=home(tmp_path))

    assert (lost.returncode, lost.stdout) == (1, "")
    assert lost.stderr == f"noughts: lost the connection to {game.proxy.url}\n"
    assert (late.returncode, late.stdout) == (2, "")
    assert late.stderr == "noughts: that invitation is invalid or has been used\n"
    assert again.stdout.startswith("You play O against bob.\n")
    assert seats(tmp_path / "late") == []


def test_a_refused_seat_is_not_saved(game: HostedGame, tmp_path: Path) -> None:
    """The refusal does not repeat the code."""
    ran = noughts("join", f"{game.address}#wrong-code", env=home(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "wrong-code" not in ran.stderr
    assert seats(tmp_path) == []


def test_a_secret_that_the_server_forgot(game: HostedGame, tmp_path: Path) -> None:
    """It lets us watch; a new invitation replaces it."""
    SeatFiles(home(tmp_path)).save(parse_address(game.address), SavedSeat("key", "old"))

    watching = noughts("join", game.address, env=home(tmp_path))
    invited = noughts("join", game.invitation, env=home(tmp_path))

    assert watching.stdout.startswith("You watch bob against Player O.\n")
    assert invited.stdout.startswith("You play O against bob.\n")


# Everything


def test_a_server_that_is_killed_and_restarted(tmp_path: Path) -> None:
    """The game goes on by itself."""
    store = f"sqlite:{tmp_path / 'games.db'}"
    with Server(store) as server, HostedGame(server) as game, game.asked(tmp_path) as session:
        session.type("1\n")
        session.expect("Waiting for bob.\r\n")
        game.client.close()
        server.kill()
        session.expect(LOST)
        with Server(store, "--port", str(server.port)):
            session.expect(RECONNECTED)
            game.place(9)
            session.expect("bob takes 9.\r\nO|2|3\r\n-+-+-\r\n4|X|6\r\n-+-+-\r\n7|8|X\r\n")
            session.expect(FRANK)
            session.type(CTRL_D)
            assert session.end() == 0


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_game_over_a_connection_that_breaks_anywhere(
    game: HostedGame, tmp_path: Path, seed: int
) -> None:
    """Each move counts once, whatever is cut: the request, the answer or the stream."""
    cells = [0, 1, 2, 4, 3, 5, 7, 6, 8]  # a draw of nine tokens
    with CuttingProxy((game.server.host, game.server.port), 0, Random(seed)) as proxy:
        address = f"{proxy.url}/game/{game.game}#{game.invite}"
        arguments = "join", address, "--name", "frank", "--color", "never"
        with in_terminal(*arguments, env=home(tmp_path)) as frank:
            frank.expect("Waiting for bob.\r\n")
            for number, cell in enumerate(cells):
                if number % 2 == 0:
                    game.place(cell + 1)
                    frank.expect(f"bob takes {cell + 1}.")
                    if number == 0:  # the stream is open
                        proxy.start(MAX_CUTS)
                else:
                    _type_until_it_counts(frank, cell)
            frank.expect("Game is Draw!")

        assert game.moves == cells
    assert proxy.cuts


def _type_until_it_counts(session: Session, cell: int) -> None:
    """Type a move, and again if the connection was lost."""
    session.expect(FRANK)
    session.type(f"{cell + 1}\n")
    while session.read_until(rf"Waiting for bob\.\r\n|{FRANK}").endswith(FRANK):
        session.type(f"{cell + 1}\n")
