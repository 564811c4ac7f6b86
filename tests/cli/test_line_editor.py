"""Lines edited in a terminal: keys, history, Ctrl-Z and windows that are too narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.live_board import DOWN, LEFT, RIGHT, UP, LiveBoard
from support.pseudo_terminal import CTRL_Z, JOB_CONTROL

HOME, END, DELETE, BACKSPACE = "\x1b[H", "\x1b[F", "\x1b[3~", "\x7f"
QUESTION = "Player X, enter a position from 1 to 9:"


@pytest.mark.parametrize(
    "keys",
    [
        "5",
        f"15{LEFT}{BACKSPACE}",
        f"51{BACKSPACE}",
        f"15{HOME}{DELETE}",
        f"1{LEFT}5{RIGHT}{BACKSPACE}",
        f"nonsense{HOME}\x0b5",
        f"nonsense\x155{END}",
        "why \x175\x7f5",
        f"5{UP}{DOWN}",
        "\x1b[15~5",
        "\x075",
    ],
    ids=ascii,
)
def test_a_line_is_edited_before_it_is_read(tmp_path: Path, keys: str) -> None:
    with LiveBoard(tmp_path, "play", "--plain") as live:
        live.see(QUESTION)
        live.press(keys, "\r")
        live.see("4|X|6")


def test_lines_typed_before_come_back(tmp_path: Path) -> None:
    """In the next game, too; only their owner can read them."""
    with LiveBoard(tmp_path, "play", "--plain", "--no-save") as live:
        live.see(QUESTION)
        for line in ("why 5", "why 5", "1", "y", "quit"):
            live.press(f"{line}\r")
        assert live.end() == 0
    history = tmp_path / "state" / "noughts" / "history"
    assert history.read_text() == "why 5\nquit\n"
    assert history.stat().st_mode & 0o777 == 0o600
    with LiveBoard(tmp_path, "play", "--plain", "--no-save") as live:
        live.see(QUESTION)
        live.press("1", UP, UP, UP)
        live.see(f"{QUESTION} why 5\n")
        live.press(DOWN)
        live.see(f"{QUESTION} quit\n")
        live.press(DOWN, DOWN, "\r")
        live.see("X|2|3")


@pytest.mark.parametrize("answer", ["zz", "?", "hint", "resign", "y n"])
def test_what_is_no_answer_after_a_game_is_told_the_answers(tmp_path: Path, answer: str) -> None:
    with LiveBoard(tmp_path, "play", "--plain", "--o", "bot:casual", "--first", "X") as live:
        live.press("resign\r")
        live.see("Play again? (y, n, harder, easier, swap, review)")
        live.press(f"{answer}\r")
        live.see("Please answer y, n, harder, easier, swap or review.")


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ("+\rresign", "club (bot) Won!"),
        ("-\rresign", "novice (bot) Won!"),
        ("o", "Player O, enter a position"),
        ("w", "O is casual (bot)."),
        ("why", "The game is over."),
    ],
)
def test_the_keys_of_the_board_answer_after_a_game(tmp_path: Path, keys: str, shown: str) -> None:
    with LiveBoard(tmp_path, "play", "--plain", "--o", "bot:casual", "--first", "X") as live:
        live.press("resign\r")
        live.see("Play again? (y, n, harder, easier, swap, review)")
        live.press(f"{keys}\r")
        live.see(shown)
        live.press("q\r")
        live.see("Goodbye!")


def test_what_is_typed_stays_behind_its_question(tmp_path: Path) -> None:
    """Also in a window that is too narrow for it."""
    with LiveBoard(tmp_path, "play", "--plain", size=(60, 24)) as live:
        live.see(QUESTION)
        live.press("why \u540d\u540d")
        live.see(f"{QUESTION} why \u540d\u540d")
        live.press(BACKSPACE)
        live.see(f"{QUESTION} why \u540d\n")
        live.press("x" * 100, "end")
        live.see("xxxend")
        assert all(len(row) <= 60 for row in live.screen.rows)


def test_ctrl_z_and_fg_ask_again(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--plain", shell=JOB_CONTROL) as live:
        live.see(QUESTION)
        live.press("wh")
        live.see(f"{QUESTION} wh")
        live.press(CTRL_Z)
        live.see("Stopped")
        live.press("fg\n")
        live.see(f"\n{QUESTION} wh\n")
        live.press(f"{BACKSPACE * 2}5\r")
        live.see("4|X|6")


@pytest.mark.parametrize(("way", "code"), [("SIGTERM", 143), ("Ctrl-C", 130)])
def test_the_shell_gets_a_new_line(tmp_path: Path, way: str, code: int) -> None:
    with LiveBoard(tmp_path, "play", "--plain") as live:
        live.see(QUESTION)
        assert live.session.end_by(way) == code

    assert live.session.output.endswith(b"\n")
    assert live.session.settings() == live.session.initial_settings
