"""A game of a server, played and watched at the terminal: what is seen, and what is sent."""

from __future__ import annotations

import json
import signal
from threading import Event
from typing import TYPE_CHECKING

import pytest

from noughts import O, PlaceToken, Resign, TakeBack, X, encode
from support.far_server import INVITE, SECRETS, FarServer, home, joined, problem, seats
from support.forked import noughts
from support.pseudo_terminal import CTRL_C, CTRL_D, Session, between_pipes, in_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.far_server import Handler

QUESTION = "frank, enter a position from 1 to 9:"
AGAIN = "Play again? (y/n)"


@pytest.fixture
def server() -> Iterator[FarServer]:
    """Return a server where bob, who plays X and starts, waits for an O."""
    with FarServer() as running:
        yield running


def asked(server: FarServer, folder: Path, *options: str) -> Session:
    """Take O's seat, and let bob move, so that frank is asked."""
    session = joined(server, folder, *options)
    session.expect("Waiting for bob.")
    server.place(5)
    session.expect(f"{QUESTION} ")
    return session


# A game


def test_a_whole_game_to_the_letter(server: FarServer, tmp_path: Path) -> None:
    """Who plays and how to come back, the board, the moves of both, the result, the score, goodbye."""
    with between_pipes(
        "join", server.invitation, "--name", "frank", "--wording", "gem", env=home(tmp_path)
    ) as session:
        session.expect("Waiting for bob.\n")
        server.place(1)
        for mine, theirs in ((4, 2), (9, 3)):
            session.expect("to make your move\n")
            session.type(f"{mine}\n")
            session.expect("Waiting for bob.\n")
            server.place(theirs)
        session.expect(f"{AGAIN}\n")
        session.type("n\n")

        assert session.end() == 0

    assert session.output.decode().splitlines() == [
        "You play O against bob.",
        f"To come back: noughts join {server.watching}",
        *["_ _ _", "_ _ _", "_ _ _", "Waiting for bob."],
        *["bob takes 1.", "X _ _", "_ _ _", "_ _ _"],
        "",
        "frank: Enter a number between 1 and 9 to make your move",
        *["X _ _", "O _ _", "_ _ _", "Waiting for bob."],
        *["bob takes 2.", "X X _", "O _ _", "_ _ _"],
        "",
        "frank: Enter a number between 1 and 9 to make your move",
        *["X X _", "O _ _", "_ _ O", "Waiting for bob."],
        *["bob takes 3.", "bob won!", "X X X", "O _ _", "_ _ O"],
        "Score: bob 1, frank 0, draws 0",
        AGAIN,
        "Goodbye!",
    ]


def test_a_move_is_sent_with_what_was_seen_and_a_key(server: FarServer, tmp_path: Path) -> None:
    """The cell, the version, the mark, a key of its own, and the secret in its header only."""
    with asked(server, tmp_path) as session:
        session.type("a1\n")
        session.expect("Waiting for bob.")

    (body,) = server.bodies("/moves")
    key = body.pop("key")
    assert body == {"cell": 0, "version": 8, "mark": "O"}
    assert len(key) == 26
    headers = next(headers for path, headers, _ in server.asked if path.endswith("/moves"))
    assert headers["Authorization"] == f"Bearer {SECRETS['O']}"


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("5", "Position is Invalid!\r\nThat cell is taken: the free cells are 1, 2, 3, 4, 6, 7, 8, 9."),
        ("0", "names no cell: type 1 to 9, or row,column such as 0,2, or a1 to c3, or help."),
        ("\x07", "That is no plain text: it has characters that cannot be shown."),
        ("undo", "There is no token of O's to take back."),
        (
            "hint",
            (
                "1: draw. It stops X from forcing a fork, unlike 2, 4, 6 or 8 (2, 1, 9, 4, 6, 7). "
                "It takes a corner, on 2 open lines. As good: 3, 7, 9."
            ),
        ),
        ("why", "X on 5: draw. It takes the centre"),
        ("why 1", "1: draw. It stops X from forcing a fork"),
        ("help", "a person is asked first"),
    ],
    ids=repr,
)
def test_most_words_are_answered_here(server: FarServer, tmp_path: Path, typed: str, answer: str) -> None:
    """What is no move, and what the coach knows, troubles no server; then the question stands again."""
    with asked(server, tmp_path) as session:
        session.type(f"{typed}\n")

        said = session.expect(f"{QUESTION} ")

    assert answer in said
    assert server.bodies("/moves") == server.bodies("/take-back") == []


def test_a_word_out_of_turn_is_answered(server: FarServer, tmp_path: Path) -> None:
    """A cell has to wait; a hint has not."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
        session.type("5\n")
        session.expect("It is not your turn: bob is to move.")
        session.type("hint\n")
        session.expect("As good: ")


def test_resigning_ends_the_game(server: FarServer, tmp_path: Path) -> None:
    """It is told as any end is."""
    with asked(server, tmp_path) as session:
        session.type("resign\n")

        said = session.expect(AGAIN)

    assert "frank resigned.\r\n" in said
    assert "bob Won!\r\nScore: bob 1, frank 0, draws 0\r\n" in said


def test_the_other_may_resign_while_one_thinks(server: FarServer, tmp_path: Path) -> None:
    """The question gives way to what has happened."""
    with asked(server, tmp_path) as session:
        server.do(Resign(X))

        assert session.expect(AGAIN).startswith("\r\nbob resigned.\r\n")


# Taking back


def test_a_person_is_asked_before_a_token_is_taken_back(server: FarServer, tmp_path: Path) -> None:
    """And does not agree, or does."""
    with asked(server, tmp_path) as session:
        session.type("1\n")
        session.expect("Waiting for bob.")

        session.type("undo\n")
        session.expect("Asked bob to allow it.")
        server.tell(offer=None)
        session.expect("bob does not agree.")
        session.type("undo\n")
        session.expect("Asked bob to allow it.")
        server.do(TakeBack(O))

        assert session.expect(QUESTION).startswith("\r\nfrank took back.\r\n1|2|3\r\n")


def test_what_was_asked_before_an_answer_came_is_still_asked(server: FarServer, tmp_path: Path) -> None:
    """The stream may be ahead of the answer to a move, which knows nothing of the other's wish yet."""
    is_heard = Event()

    def answer_late(handler: Handler) -> None:
        done = server.game.do(PlaceToken(O, 0), handler.body["version"], handler.body["key"])
        server.tell(offer={"kind": "takeBack", "mark": "X"})
        server.tell(present={"X": False, "O": True})
        is_heard.wait(60)
        events = [encode(event) for event in done.events]
        handler.answer_json(200, {"version": done.version, "events": events, "offer": None})

    server.harm["/moves"].append(answer_late)
    with between_pipes("join", server.invitation, "--name", "frank", env=home(tmp_path)) as session:
        session.expect("Waiting for bob.")
        server.place(5)
        session.expect(QUESTION)
        session.type("1\ny\n")  # without a screen, the second waits for the answer to the first
        session.expect("bob is not here now.")

        is_heard.set()

        session.expect("bob took back.")


@pytest.mark.parametrize(("answer", "accepts"), [("y", True), ("n", False), ("YES", True), ("no", False)])
def test_who_is_asked_may_agree_or_not(
    server: FarServer, tmp_path: Path, answer: str, *, accepts: bool
) -> None:
    """The question of the move gives way to this one, and comes back."""
    with asked(server, tmp_path) as session:
        server.tell(offer={"kind": "takeBack", "mark": "X"})
        session.expect("\r\n\r\nbob wants to take back. Agree? (y/n) ")

        session.type(f"{answer}\n")

        session.expect("bob took back." if accepts else QUESTION)
    (body,) = server.bodies("/answer")
    assert body["accept"] is accepts
    assert len(body["key"]) == 26


def test_a_move_is_an_answer_too(server: FarServer, tmp_path: Path) -> None:
    """Who plays on does not agree."""
    with asked(server, tmp_path) as session:
        server.tell(offer={"kind": "takeBack", "mark": "X"})
        session.expect("Agree? (y/n) ")

        session.type("1\n")

        session.expect("Waiting for bob.")
    assert len(server.bodies("/moves")) == 1


# One game after another


def test_a_next_game_is_played_when_both_want_it(server: FarServer, tmp_path: Path) -> None:
    """Whoever asks first waits; the seat at the next game is kept, and that at the last is not."""
    with asked(server, tmp_path) as session:
        before = seats(tmp_path)
        session.type("resign\n")
        session.expect(f"{AGAIN} ")
        session.type("y\n")
        session.expect("Waiting for bob to agree.")

        server.rematch("X")

        said = session.expect(f"{QUESTION} ")
    assert said.startswith("\r\nfrank starts.\r\n1|2|3\r\n")
    assert len(seats(tmp_path)) == 1
    assert seats(tmp_path) != before


def test_who_is_asked_for_another_game_is_told_so(server: FarServer, tmp_path: Path) -> None:
    """And has the next game at once by agreeing."""
    with asked(server, tmp_path) as session:
        session.type("resign\n")
        session.expect(f"{AGAIN} ")
        server.rematch("X")
        session.expect(f"\r\nbob wants to play again.\r\n{AGAIN} ")

        session.type("maybe\n")
        session.expect(f"Please answer y or n.\r\n{AGAIN} ")
        session.type("Y\n")

        session.expect("frank starts.")
        session.expect(f"{QUESTION} ")


def test_who_watches_goes_along_to_the_next_game(server: FarServer, tmp_path: Path) -> None:
    """By itself, as soon as there is one."""
    server.seat_frank()
    with in_terminal("join", server.watching, "--color", "never", env=home(tmp_path)) as session:
        session.expect("You watch bob against frank.\r\n1|2|3")
        server.place(5)
        session.expect("bob:\r\n1|2|3\r\n-+-+-\r\n4|X|6")
        session.type("1\n")
        session.expect("You are watching: type hint, why, help or quit.")
        server.do(Resign(O))
        session.expect("frank resigned.")
        session.expect("bob Won!\r\nScore: bob 1, frank 0, draws 0")
        server.rematch("X")

        server.rematch("O")

        session.expect("frank starts.")
    assert all("Authorization" not in headers for _, headers, _ in server.asked if headers)


def test_a_refused_rematch_is_no_end(server: FarServer, tmp_path: Path) -> None:
    """What the server says to it is said, and the question stands again."""
    server.harm["/rematch"].append(problem(409, "notOver", "The game is not over."))
    with asked(server, tmp_path) as session:
        session.type("resign\n")
        session.expect(f"{AGAIN} ")
        session.type("y\n")

        said = session.expect(f"{AGAIN} ")

    assert said.startswith("The game is not over.\r\n")


# Those who come and go


def test_it_is_told_in_passing_who_comes_and_goes(server: FarServer, tmp_path: Path) -> None:
    """The question stands again below."""
    with asked(server, tmp_path) as session:
        server.tell(present={"X": False, "O": True})
        session.expect(f"\r\nbob is not here now.\r\n\r\n{QUESTION} ")

        server.tell(present={"X": True, "O": True})

        session.expect(f"\r\nbob is back.\r\n\r\n{QUESTION} ")


def test_who_waits_is_told_who_takes_the_other_seat(server: FarServer, tmp_path: Path) -> None:
    """A new game for a friend tells the one code that is meant to be passed on."""
    with in_terminal("join", f"{server.url}/", "--friend", "--name", "ann", env=home(tmp_path)) as one:
        one.expect(f"To play with you, a friend opens {server.url}/game/madegame#{INVITE}\r\n")
        one.expect("You play X.")
        one.expect("Waiting for somebody to take the other seat.")
        one.type("5\n")
        one.expect("Nobody has joined yet.")
        server.game = server.games["madegame"]
        server.seat_frank()

        one.expect("frank plays O.\r\n\r\nann, enter a position from 1 to 9: ")


# Coming to a game


def test_a_seat_is_kept_and_come_back_to(server: FarServer, tmp_path: Path) -> None:
    """By the address alone; another terminal, which has no seat, watches."""
    with asked(server, tmp_path) as session:
        session.type("1\n")
        session.expect("Waiting for bob.")
        session.type("quit\n")
        session.expect(f"To go on: noughts join {server.watching}\r\nGoodbye!\r\n")
        assert session.end() == 0

    server.place(9)
    with in_terminal("join", server.watching, env=home(tmp_path)) as again:
        again.expect("You play O against bob.")
        again.expect(f"{QUESTION} ")
    with in_terminal("join", server.invitation, env=home(tmp_path)) as again:
        again.expect(f"{QUESTION} ")
    with in_terminal("join", server.watching, env=home(tmp_path / "another")) as other:
        other.expect("You watch bob against frank.")
    assert len(server.bodies("/join")) == 1


def test_only_its_owner_can_read_a_seat(server: FarServer, tmp_path: Path) -> None:
    """The key is there before the seat is asked for, and the secret before anything is played."""
    held: list[tuple[int, int, dict[str, object]]] = []

    def look() -> None:
        (file,) = seats(tmp_path)
        mode, folder = (path.stat().st_mode & 0o777 for path in (file, file.parent))
        held.append((mode, folder, json.loads(file.read_text())))

    server.heard_join = look
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
        look()

    (before, after) = held
    key = server.bodies("/join")[0]["key"]
    known = {"seat": 1, "game": server.watching, "key": key}
    assert before == (0o600, 0o700, {**known, "secret": None})
    assert after == (0o600, 0o700, {**known, "secret": SECRETS["O"]})


def test_no_secret_is_ever_shown(server: FarServer, tmp_path: Path) -> None:
    """Neither the seat's nor the code of the invitation that was used."""
    with asked(server, tmp_path) as session:
        session.type("1\nwhy\nhelp\nundo\nquit\n")
        session.end()

    shown = session.output.decode()
    assert SECRETS["O"] not in shown
    assert INVITE not in shown


def test_a_free_seat_is_offered(server: FarServer, tmp_path: Path) -> None:
    """To whoever sits before the screen; and taken without a question if that is asked for."""
    server.tell(is_open=True)
    with in_terminal("join", server.watching, "--name", "frank", env=home(tmp_path)) as session:
        session.expect("Take the free seat? (y/n) ")
        session.type("what\n")
        session.expect("Please answer y or n.\r\nTake the free seat? (y/n) ")
        session.type("y\n")
        session.expect("You play O against bob.")
    assert server.bodies("/join")[0]["invite"] is None


def test_a_free_seat_is_left_alone_by_who_only_watches(server: FarServer, tmp_path: Path) -> None:
    """By a no, by the end of input, and where nobody can be asked."""
    server.tell(is_open=True)
    for answer in (b"n\n", CTRL_D):
        with in_terminal("join", server.watching, env=home(tmp_path)) as session:
            session.expect("Take the free seat? (y/n) ")
            session.type(answer)
            session.expect("You watch bob against Player O.")
    assert "You watch" in noughts("join", server.watching, env=home(tmp_path)).stdout
    assert server.bodies("/join") == []


def test_the_open_games_are_listed(server: FarServer, tmp_path: Path) -> None:
    """With their addresses, and how to play."""
    nothing = noughts("join", server.url, env=home(tmp_path))
    server.tell(is_open=True)
    one = noughts("join", f"{server.url}/lobby", env=home(tmp_path))
    server.tell(taken={"X": True, "O": True})
    played = noughts("join", f"{server.url}/", env=home(tmp_path))

    assert [ran.returncode for ran in (nothing, one, played)] == [0, 0, 0]
    assert nothing.stdout == (f"No open games.\nnoughts join {server.url}/ --play opens one.\n")
    assert one.stdout == (
        f"Open games:\n  {server.watching}  bob (X)\n"
        f"noughts join {server.url}/ --play joins the oldest open game.\n"
    )
    assert f"Games in progress:\n  {server.watching}  bob (X) against frank (O)\n" in played.stdout


def test_play_at_a_server_takes_a_seat_or_waits_for_somebody(server: FarServer, tmp_path: Path) -> None:
    """Whoever has waited longest is played with; if nobody has, one waits oneself."""
    address = f"{server.url}/"
    with in_terminal("join", address, "--play", env=home(tmp_path)) as session:
        session.expect("You play X.")
        session.expect("Waiting for somebody to take the other seat.")
    server.tell(is_open=True)
    del server.games["madegame"]
    with in_terminal("join", address, "--play", env=home(tmp_path)) as session:
        session.expect("You play O against bob.")


@pytest.mark.parametrize("bot", ["club", "bot:club"])
def test_a_bot_of_the_server_is_played(server: FarServer, tmp_path: Path, bot: str) -> None:
    """It needs no waiting for, and lets tokens be taken back at once."""
    with in_terminal(
        "join", server.url, "--bot", bot, "--name", "ann", "--color", "never", env=home(tmp_path)
    ) as session:
        session.expect("You play X against club.")
        session.expect("ann, enter a position from 1 to 9: ")
        session.type("5\n")
        session.expect("4|X|6")
        server.game = server.games["madegame"]
        server.do(PlaceToken(O, 0))
        said = session.expect("ann, enter a position from 1 to 9: ")
        session.type("undo\n")
        session.expect("ann took back.")

    assert "Waiting for" not in said
    (sent,) = server.bodies("/games")
    assert len(sent.pop("key")) >= 16
    assert sent == {"opponent": "bot", "bot": "club", "name": "ann", "secret": True}


def test_play_where_no_seat_is_free_is_refused(server: FarServer, tmp_path: Path) -> None:
    """With a word that one can watch."""
    ran = noughts("join", server.watching, "--play", env=home(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "leave out --play to watch" in ran.stderr


# Other screens


def test_a_small_screen_shows_what_it_has_room_for(server: FarServer, tmp_path: Path) -> None:
    """The board in three short rows, and again after every word."""
    with in_terminal(
        "join", server.invitation, "--color", "never", size=(20, 5), env=home(tmp_path)
    ) as session:
        session.expect("Waiting for bob.")
        server.place(5)
        session.expect("bob takes 5.\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\nO 1-9: ")
        session.type("help\n")
        session.expect("hint why undo quit\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\nO 1-9: ")
        server.tell(present={"X": False, "O": True})
        session.expect("bob is not here now.\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\nO 1-9: ")


def test_a_game_can_be_listened_to(server: FarServer, tmp_path: Path) -> None:
    """Positions are told in sentences."""
    with asked(server, tmp_path, "--describe", "--wording", "kata") as session:
        session.type("1\n")
        session.expect("bob (X) on 5, frank (O) on 1; bob (X) to move.")


# Leaving


@pytest.mark.parametrize("asks", [True, False])
def test_ctrl_c_tells_how_to_come_back(server: FarServer, tmp_path: Path, *, asks: bool) -> None:
    """While one is asked, and while one waits: at once, with 130."""
    with (asked if asks else joined)(server, tmp_path) as session:
        if not asks:
            session.expect("Waiting for bob.\r\n")

        session.type(CTRL_C)

        assert session.end() == 130
    last = f"To go on: noughts join {server.watching}\r\n\r\nGoodbye!\r\n"
    assert session.output.decode().endswith(last)


def test_the_end_of_input_leaves(server: FarServer, tmp_path: Path) -> None:
    """What was typed before it has its effect first."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
        session.type(CTRL_D)
        assert session.end() == 0
    server.place(5)
    ran = noughts("join", server.watching, typed="1\nhint", env=home(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "O|2|3\n" in ran.stdout
    assert "As good" in ran.stdout or ": draw." in ran.stdout
    assert ran.stdout.endswith(f"To go on: noughts join {server.watching}\nGoodbye!\n")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_signals_end_the_command(
    server: FarServer, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Without an error, though threads of it wait for the server."""
    with asked(server, tmp_path) as session:
        session.send(number)

        assert session.end() == code
    assert b"Traceback" not in session.output


@pytest.mark.parametrize("where", ["", "/events", "/join"])
def test_ctrl_c_counts_while_a_server_is_silent(server: FarServer, tmp_path: Path, where: str) -> None:
    """Whatever is waited for."""
    released = server.stop_at(where)
    with joined(server, tmp_path) as session:
        assert released.reached.wait(60)

        session.type(CTRL_C)

        assert session.end() == 130
    released.set()
