"""Events as the document writes them: printed during a game, and of a saved one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noughts import Command, CreateGame, JoinGame, Mark, PlaceToken, decide, fold
from support.forked import noughts
from support.pseudo_terminal import between_pipes, in_terminal
from support.saved_games import X_WINS, change, ids, save, saving

EVENT = re.compile(r"(?:game|player)[A-Z][A-Za-z]*\(.*\)")
"""What a line with an event looks like, whole."""


def events_in(text: str) -> list[str]:
    """Return the lines that are events."""
    return [line for line in text.splitlines() if EVENT.fullmatch(line)]


def test_an_arrow_is_an_illegal_move() -> None:
    ran = noughts("play", "--events", typed="\x1b[A\n")

    assert events_in(ran.stdout)[3:] == ["playerNotifyIllegalMove(X,noSuchCell)"]


def test_the_events_printed_live_are_those_saved(tmp_path: Path) -> None:
    """Except illegal moves, which are not part of a record."""
    typed = "\n".join(("5", "undo", "5", "5", "resign", "y", *X_WINS, "n", ""))
    options = ("--o", "bot:random", "--x", "bob", "--events")
    ran = noughts("play", *options, typed=typed, env=saving(tmp_path))

    live = [event for event in events_in(ran.stdout) if "playerNotifyIllegalMove" not in event]
    newest, oldest = ids(tmp_path)
    saved = [noughts("events", game, env=saving(tmp_path)).stdout for game in (oldest, newest)]
    assert live == "".join(saved).splitlines()
    assert "playerNotifyIllegalMove(X,cellTaken)" in ran.stdout.splitlines()


@pytest.mark.parametrize("options", [[], ["--wording", "gem"], ["--describe"], ["--x", "a", "--o", "b"]])
def test_watched_games_print_their_events(options: list[str]) -> None:
    ran = noughts("watch", "--interval", "0", "--seed", "7", "--games", "3", "--events", *options)

    seats = [JoinGame(Mark.X, "a"), JoinGame(Mark.O, "b")] if "--x" in options else []
    games = "\n".join(events_in(ran.stdout)).split("gameCreated")[1:]
    assert len(games) == 3
    for game in games:
        history = [*decide(None, CreateGame(Mark(game[1]), open_seats=bool(seats)))]
        tokens = re.findall(r"playerPlacedToken\((\d),(\d),([XO])\)", game)
        cells = [PlaceToken(Mark(mark), 3 * int(row) + int(column)) for row, column, mark in tokens]
        commands: list[Command] = [*seats, *cells]
        for each in commands:
            history += decide(fold(history), each)
        assert f"gameCreated{game}".splitlines() == [*map(str, history)]
        assert game.splitlines()[-1] == "gameCompleted(true)"


def test_events_are_printed_as_they_happen() -> None:
    """In a terminal, before the next question is answered."""
    with in_terminal("play", "--events", "--color=never") as session:
        session.expect("playerActive(X)")
        session.expect("from 1 to 9: ")
        session.type("5\n")
        session.expect("playerPlacedToken(1,1,X)")
        session.expect("from 1 to 9: ")
        session.type("5\n")
        session.expect("playerNotifyIllegalMove(O,cellTaken)")


def test_moves_from_elsewhere_are_printed_too(tmp_path: Path) -> None:
    with between_pipes("play", "--events", env=saving(tmp_path)) as session:
        session.expect("1 to 9:")
        session.type("5\n")
        session.expect("Player O, enter a position from 1 to 9:")
        (game,) = ids(tmp_path)
        save(tmp_path, game, "1")
        session.type("9\n")
        shown = session.expect("Player X, enter a position from 1 to 9:")

    assert events_in(shown) == ["playerPlacedToken(0,0,O)", "gamePlacedCount(2)", "playerActive(X)"]


def test_a_damaged_game_is_refused_as_replay_refuses_it(tmp_path: Path) -> None:
    save(tmp_path, "aaaaaaaa", "5")
    change(tmp_path, "UPDATE games SET record = replace(record, 'playerPlaced', 'playerMoved')")

    ran, replayed = (noughts(task, "a", env=saving(tmp_path)) for task in ("events", "replay"))

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", replayed.stderr)
    assert ran.stderr == "noughts: game 'aaaaaaaa' has changed since it was recorded\n"
