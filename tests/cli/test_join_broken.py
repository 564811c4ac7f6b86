"""A line that breaks: nothing is lost, nothing counts twice, and no more is said of it than is of use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from noughts import O, PlaceToken
from support.far_server import (
    INVITE,
    SECRETS,
    FarServer,
    after_all,
    hang_up,
    home,
    joined,
    problem,
    seats,
    text,
)
from support.forked import noughts
from support.pseudo_terminal import CTRL_C, CTRL_D, between_pipes, in_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.pseudo_terminal import Session

QUESTION = "frank, enter a position from 1 to 9: "
BROKEN, BACK = "Connection lost; reconnecting.\r\n", "Reconnected.\r\n"


@pytest.fixture
def server() -> Iterator[FarServer]:
    """Return a server where bob, who plays X and starts, waits for an O."""
    with FarServer() as running:
        yield running


@pytest.fixture
def session(server: FarServer, tmp_path: Path) -> Iterator[Session]:
    """Return the terminal of frank, who has taken O's seat and is to move."""
    with joined(server, tmp_path) as running:
        running.expect("Waiting for bob.")
        server.place(5)
        running.expect(QUESTION)
        yield running


def test_a_stream_that_is_cut_goes_on_where_it_was(server: FarServer, session: Session) -> None:
    """A short break is mended without a word, and each move is told once."""
    for mine, theirs in ((1, 9), (2, 3)):
        session.type(f"{mine}\n")
        session.expect("Waiting for bob.\r\n")
        server.cut()
        server.place(theirs)
        assert session.expect(QUESTION).startswith(f"bob takes {theirs}.\r\n")

    seen = [headers["Last-Event-ID"] for path, headers, _ in server.asked if path.endswith("/events")]
    assert seen[0] == "5"
    assert [int(one) for one in seen] == sorted({int(one) for one in seen})
    assert "broken" not in session.output.decode()


@pytest.mark.waits
def test_a_longer_break_is_told_once_and_so_is_its_end(server: FarServer, session: Session) -> None:
    """What happened meanwhile is told then, and the question stands again."""
    server.harm["/events"].extend([hang_up] * 4)
    server.cut()
    assert session.expect(BROKEN) == f"\r\n{BROKEN}"

    session.type("1\n")
    session.expect(BROKEN)
    said = session.expect(QUESTION)

    assert said.count(BACK) == 1
    assert BROKEN not in said
    assert server.bodies("/moves") == []


def test_who_is_cut_off_can_still_ask_the_coach_and_leave(server: FarServer, session: Session) -> None:
    """The way back is told."""
    server.harm["/events"].extend([hang_up] * 100)
    server.cut()
    session.expect(BROKEN)
    session.type("hint\n")
    session.expect("As good: ")

    session.type("quit\n")

    session.expect(f"To go on: noughts join {server.watching}\r\nGoodbye!\r\n")
    assert session.end() == 0


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["Ctrl-C", "Ctrl-D"])
def test_who_is_cut_off_is_not_held_back(server: FarServer, session: Session, key: bytes) -> None:
    """Each key leaves at once."""
    server.harm["/events"].extend([hang_up] * 100)
    server.cut()
    session.expect(BROKEN)

    session.type(key)

    assert session.end() == (130 if key == CTRL_C else 0)


@pytest.mark.parametrize("harm", [hang_up, after_all], ids=["before it counted", "after it counted"])
@pytest.mark.parametrize("breaks", [1, 3])
def test_a_move_whose_answer_is_lost_counts_once(
    server: FarServer, session: Session, harm: object, breaks: int
) -> None:
    """It is sent again with the same key, until it is known what became of it."""
    server.harm["/moves"].extend([harm] * breaks)  # type: ignore[list-item]  # one of the two above

    session.type("1\n")
    said = session.expect("Waiting for bob.\r\n")

    sent = server.bodies("/moves")
    assert len(sent) == breaks + 1
    assert all(body == sent[0] for body in sent)
    assert server.game.service.look("thegame").game.moves == (4, 0)
    assert said.count("O|2|3") == 1
    assert (BROKEN in said, BACK in said) == (breaks > 1, breaks > 1)


def test_a_server_that_wants_to_rest_is_asked_again(server: FarServer, session: Session) -> None:
    """A refusal for now is no refusal, and the key stays the same."""
    server.harm["/moves"].append(problem(503, "storeUnavailable", "Not now.", Retry_After="0"))
    server.harm["/moves"].append(text(502, "<h1>Bad gateway</h1>", "text/html"))

    session.type("1\n")
    session.expect("Waiting for bob.\r\n")

    assert len({body["key"] for body in server.bodies("/moves")}) == 1


def test_a_gateway_that_speaks_for_the_server_is_waited_out(server: FarServer, session: Session) -> None:
    """A page that somebody else puts in place of the stream is no end of the game."""
    server.harm["/events"].extend([text(200, "<p>Sign in!</p>", "text/html")] * 3)
    server.cut()

    said = session.expect(QUESTION)

    assert said == f"\r\n{BROKEN}{BACK}\r\n{QUESTION}"


def test_a_move_that_came_too_late_is_told_as_what_it_is(server: FarServer, session: Session) -> None:
    """Somebody else has used the seat meanwhile: the game is shown as it is, and goes on."""
    stop = server.stop_at("/events")
    server.cut()
    assert stop.reached.wait(60)
    server.do(PlaceToken(O, 8))
    server.place(3)

    session.type("1\n")
    said = session.expect(QUESTION)
    stop.set()

    assert said.startswith(
        "This game has moved on in another window; here it is now.\r\n"
        "1|2|X\r\n-+-+-\r\n4|X|6\r\n-+-+-\r\n7|8|O"
    )
    assert server.game.service.look("thegame").game.moves == (4, 8, 2)


def test_a_move_that_is_refused_for_another_reason_is_told(server: FarServer, session: Session) -> None:
    """In the server's words, made safe to show."""
    server.harm["/moves"].append(problem(409, "tooLong", "Too long\x1b[2J, says \u202ethe server."))

    session.type("1\n")

    assert session.expect(QUESTION).startswith("Too long\\x1b[2J, says \\u202ethe server.\r\n1|2|3")


def test_a_server_that_has_forgotten_a_part_is_looked_at_again(
    server: FarServer, session: Session
) -> None:
    """Its games may have come back from a copy: the game is shown as it is there."""
    server.harm["/events"].append(problem(409, "staleVersion", "The game never was there."))
    server.cut()

    assert session.expect(QUESTION).startswith("\r\n1|2|3\r\n-+-+-\r\n4|X|6")


def test_a_server_that_knows_less_each_time_is_left(server: FarServer, session: Session) -> None:
    """It is looked at again once, and not for ever."""
    stale = problem(409, "staleVersion", "The game never was there.")
    server.harm["/events"].extend([stale] * 2)
    server.cut()

    assert session.end() == 2
    assert b"noughts: the game never was there\r\n" in session.output


def test_what_came_between_is_looked_up(server: FarServer, session: Session) -> None:
    """An answer that is ahead of the stream is no gap in the game."""
    stop = server.stop_at("/events")
    server.cut()
    assert stop.reached.wait(60)
    server.do(PlaceToken(O, 8))
    server.place(3)

    session.type("resign\n")
    said = session.expect("Play again? (y/n) ")
    stop.set()

    assert said.startswith("1|2|X\r\n-+-+-\r\n4|X|6\r\n-+-+-\r\n7|8|O\r\nbob Won!\r\n")


def test_a_game_that_is_not_there_any_more_ends_the_command(server: FarServer, session: Session) -> None:
    """There is nothing to wait for."""
    del server.games["thegame"]
    server.cut()

    session.expect("\r\nnoughts: there is no such game, or there is no seat of yours at it\r\n")
    assert session.end() == 2


@pytest.mark.parametrize("harm", [hang_up, after_all], ids=["before it counted", "after it counted"])
def test_a_seat_whose_answer_is_lost_is_asked_for_again(
    server: FarServer, tmp_path: Path, harm: object
) -> None:
    """With the same key, and so it is the same seat."""
    server.harm["/join"].append(harm)  # type: ignore[arg-type]  # one of the two above
    with joined(server, tmp_path) as session:
        session.expect("You play O against bob.")

    first, second = server.bodies("/join")
    assert first == second


def test_a_game_whose_answer_is_lost_is_asked_for_again(server: FarServer, tmp_path: Path) -> None:
    """With the same key, and so it is created once."""
    server.harm["/games"].append(hang_up)
    with in_terminal("join", server.url, "--bot", "club", env=home(tmp_path)) as session:
        session.expect("You play X against club.")

    first, second = server.bodies("/games")
    assert first == second


def test_a_seat_that_was_never_answered_is_found_by_coming_again(
    server: FarServer, tmp_path: Path
) -> None:
    """The key was kept; another terminal with the same invitation comes too late."""
    server.harm["/join"].extend([after_all] * 3)
    lost = noughts("join", server.invitation, env=home(tmp_path))
    late = noughts("join", server.invitation, env=home(tmp_path / "late"))
    again = noughts("join", server.invitation, env=home(tmp_path))

    assert (lost.returncode, lost.stdout) == (1, "")
    assert lost.stderr == f"noughts: lost the connection to {server.url}\n"
    assert (late.returncode, late.stdout) == (2, "")
    assert late.stderr == "noughts: that invitation is invalid or has been used\n"
    assert again.stdout.startswith("You play O against bob.\n")
    assert seats(tmp_path / "late") == []


def test_a_refused_seat_leaves_nothing_behind(server: FarServer, tmp_path: Path) -> None:
    """A wrong code is told without repeating it."""
    ran = noughts("join", f"{server.watching}#wrong-code", env=home(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "wrong-code" not in ran.stderr
    assert seats(tmp_path) == []


def test_a_seat_that_the_server_has_forgotten_is_not_insisted_on(
    server: FarServer, tmp_path: Path
) -> None:
    """Then one watches; an invitation that came later is taken."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
    (file,) = seats(tmp_path)
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "secret": "old"}))

    watching = noughts("join", server.watching, env=home(tmp_path))
    server.game.used_key = None
    server.harm["/join"].append(text(200, json.dumps(_seated(server))))
    invited = noughts("join", server.invitation, env=home(tmp_path))

    assert watching.stdout.startswith("You watch bob against frank.\n")
    assert invited.stdout.startswith("You play O against bob.\n")


def _seated(server: FarServer) -> dict[str, object]:
    secrets = {"O": SECRETS["O"]}
    view = server.game.view(["O"])
    return {"id": "thegame", "marks": ["O"], "secrets": secrets, "invite": None, "game": view}


def test_what_is_typed_ahead_waits_for_its_turn(server: FarServer, tmp_path: Path) -> None:
    """Between pipes, a line is heard when it is known what became of the one before."""
    with joined(server, tmp_path) as session:
        session.expect("Waiting for bob.")
    server.place(5)
    server.harm["/moves"].append(after_all)
    with between_pipes("join", server.watching, env=home(tmp_path)) as session:
        session.expect(QUESTION.rstrip())
        session.type("1\n2\nundo\nquit\n3\n")

        assert session.end() == 0

    said = session.output.decode()
    assert "It is not your turn: bob is to move." in said
    assert "Asked bob to allow it." in said
    assert server.game.service.look("thegame").game.moves == (4, 0)
    assert INVITE not in said
