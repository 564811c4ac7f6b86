"""A terminal killed in mid-game, at every board: the game is resumed, and nothing is lost."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from support.forked import noughts
from support.pseudo_terminal import Session, in_terminal
from support.saved_games import DRAW, asked, digits, drawn, ids, saving

LINE_END = "\r\n"
EVENTS = 3
"""Of a new game, and of a move that is not the last."""


def play(session: Session, moves: str) -> None:
    """Make these moves in a new or resumed game, and wait for the last board."""
    for number, cell in enumerate(moves, start=1):
        session.expect(asked(moves[: number - 1]))
        session.type(f"{cell}\n")
    session.expect(drawn(moves, end=LINE_END))


def check_resumed(folder: Path, moves: str) -> None:
    """Resume the unfinished game: it shows the last board, and its question."""
    ran = noughts("resume", env=saving(folder))

    (game,) = ids(folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        f"{drawn(moves)}{asked(moves)}\nThe game is saved: noughts resume {game[:8]}\nGoodbye!\n"
    )
    assert digits(folder) == [moves]


def check_verified(folder: Path, events: int) -> None:
    """Verify the store with the command."""
    ran = noughts("store", "verify", env=saving(folder))

    assert ran.stdout == f"1 game, {events} events: no faults found.\n"
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("moves", [DRAW[:count] for count in range(1, len(DRAW))])
def test_a_game_that_is_killed_at_a_board_is_resumed_at_that_board(tmp_path: Path, moves: str) -> None:
    """With kill -9; the store is intact."""
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        play(session, moves)

        assert session.end_by("SIGKILL") == 128 + signal.SIGKILL

    check_resumed(tmp_path, moves)
    check_verified(tmp_path, EVENTS + EVENTS * len(moves))


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("Ctrl-C", 130),
        ("SIGINT", 130),
        ("SIGTERM", 143),
        ("SIGHUP", 128 + signal.SIGHUP),
        ("hang up", 128 + signal.SIGHUP),
    ],
)
@pytest.mark.parametrize("moves", [DRAW[:1], DRAW[:4], DRAW[:8]])
def test_a_game_that_is_ended_at_a_board_is_resumed_at_that_board(
    tmp_path: Path, moves: str, way: str, code: int
) -> None:
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        play(session, moves)

        assert session.end_by(way) == code
        assert b"Traceback" not in session.output

    check_resumed(tmp_path, moves)


def test_a_game_that_is_killed_before_its_first_move_leaves_nothing(tmp_path: Path) -> None:
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        session.expect(asked(""))
        session.end_by("SIGKILL")

    ran = noughts("resume", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "no unfinished game to continue" in ran.stderr
    assert digits(tmp_path) == []


def test_a_game_that_is_over_stays_over_when_it_is_killed(tmp_path: Path) -> None:
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        play(session, DRAW)
        session.end_by("SIGKILL")

    ran = noughts("replay", ids(tmp_path)[0], env=saving(tmp_path))

    assert ran.stdout.endswith("THE GAME ENDS WITH A DRAW!\n")


def test_a_game_that_is_killed_after_every_move_is_played_to_its_end(tmp_path: Path) -> None:
    for number, cell in enumerate(DRAW, start=1):
        command = "play" if number == 1 else "resume"
        with in_terminal(command, "--color=never", env=saving(tmp_path)) as session:
            before = session.expect(asked(DRAW[: number - 1]))
            assert before.startswith(drawn(DRAW[: number - 1], end=LINE_END))
            session.type(f"{cell}\n")
            session.expect(drawn(DRAW[:number], end=LINE_END))
            session.end_by("SIGKILL")

    assert digits(tmp_path) == [DRAW]
    check_verified(tmp_path, EVENTS + EVENTS * len(DRAW) + 1)  # a draw, and that all is over


@pytest.mark.parametrize("seen", range(9))
def test_a_killed_game_has_every_move_that_was_shown(tmp_path: Path, seen: int) -> None:
    """All moves are typed at once; at least those that were shown are recorded."""
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        session.expect(asked(""))
        session.type("\n".join(DRAW) + "\n")
        if seen:
            session.expect(drawn(DRAW[:seen], end=LINE_END))
        session.end_by("SIGKILL")
        boards = len(re.findall(rb"-\+-\+-\r\n[^\r]*\r\n-\+-\+-", session.output)) - 1

    (found,) = digits(tmp_path) or [""]
    assert DRAW.startswith(found)
    assert len(found) >= max(seen, boards)


def test_names_undo_and_the_first_player_survive_a_kill(tmp_path: Path) -> None:
    options = ("--x=Ann", "--o=Zo\u00eb", "--first=O", "--color=never")
    with in_terminal("play", *options, env=saving(tmp_path)) as session:
        session.expect("Zo\u00eb, enter")
        session.type("5\n1\nundo\n9\n")
        session.expect("7|8|X")
        session.end_by("SIGKILL")

    ran = noughts("resume", "--describe", env=saving(tmp_path))

    assert ran.stdout.startswith(
        "Zo\u00eb (O) on 5, Ann (X) on 9; Zo\u00eb (O) to move.\nZo\u00eb, enter a position"
    )


def test_the_second_game_survives_a_kill(tmp_path: Path) -> None:
    options = ("--color=never", "--first=loser")
    with in_terminal("play", *options, env=saving(tmp_path)) as session:
        play(session, DRAW)
        session.type("y\n5\n")
        session.expect("O starts.")
        session.expect("4|O|6")
        session.end_by("SIGKILL")

    assert digits(tmp_path) == ["5", DRAW]
    assert noughts("resume", env=saving(tmp_path)).stdout.startswith(drawn("5").replace("X", "O"))


def test_a_game_that_is_killed_with_kill_9_can_be_played_on_at_once_elsewhere(tmp_path: Path) -> None:
    """No lock is left behind."""
    with (
        in_terminal("play", "--color=never", env=saving(tmp_path)) as gone,
        in_terminal("play", "--color=never", env=saving(tmp_path)) as sitting,
    ):
        play(gone, DRAW[:2])
        play(sitting, DRAW[:3])
        gone.end_by("SIGKILL")
        game = ids(tmp_path)[1]

        ran = noughts("resume", game, typed=f"{DRAW[2]}\n", env=saving(tmp_path))

        assert (ran.returncode, ran.stderr) == (0, "")
        assert digits(tmp_path) == [DRAW[:3], DRAW[:3]]
