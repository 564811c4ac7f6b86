"""The board in place: real keys in a real terminal, in windows of any size."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from support.command import environment, noughts
from support.in_place import SIZE, documents, ending, fits, follow
from support.live_board import DOWN, LEFT, RIGHT, UP, LiveBoard
from support.pseudo_terminal import CTRL_C, CTRL_D, CTRL_Z, JOB_CONTROL
from support.saved_games import save, url
from support.sessions import Step

SIZES = [(20, 5), (44, 10), (80, 24), (200, 60)]
EMPTY_STATE = set[str]()
REPORTS = (
    "\x1b[I",
    "\x1b[O",
    "\x1b[<0;99;99M",
    "\x1b[<0;3;3m",
    "\x1b[<64;3;3M",
    "\x1b[M   ",
    "\x1b[200~",
    "\x1b[201~",
)
"""The focus, the mouse, and the marks around what is pasted."""


def board(live: LiveBoard) -> str:
    """Return the marks of a small drawing."""
    return "/".join(row[:5].replace("|", "") for row in live.screen.rows[0:5:2])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_game_of_two_people_at_one_keyboard(tmp_path: Path, size: tuple[int, int]) -> None:
    with LiveBoard(tmp_path, "play", size=size) as live:
        for number, key in enumerate("15293"):
            live.see("Player O, your" if number % 2 else "Player X, your")
            live.press(key)
        live.see("Player X Won!")
        assert not live.screen.has_scrolled
        assert all(len(row) <= size[0] for row in live.screen.rows)
        live.press("q")

        assert live.end() == 0
        assert not live.screen.modes & {"?1049", "?1000", "?1006"}
        assert live.screen.rows[-1] == "Goodbye!" or "Goodbye!" in live.screen.text


def test_arrows_move_the_cursor_and_enter_takes_its_cell(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", size=(44, 10)) as live:
        live.see("Player X, your move.")
        for keys, cursor in [
            ((), (4, 4)),
            ((UP,), (4, 2)),
            ((LEFT, LEFT), (2, 2)),
            ((DOWN, DOWN, DOWN), (2, 6)),
        ]:
            live.press(*keys)
            live.see_cursor(cursor)
        live.press(RIGHT, "\r")
        live.see("Player O, your move.", "7|X|9")


@pytest.mark.parametrize(
    ("size", "place"), [((80, 24), (19, 11)), ((44, 10), (6, 6)), ((200, 60), (79, 37))]
)
def test_a_click_takes_a_cell_and_a_click_elsewhere_does_nothing(
    tmp_path: Path, size: tuple[int, int], place: tuple[int, int]
) -> None:
    with LiveBoard(tmp_path, "play", size=size) as live:
        live.see("Player X, your move.")
        live.click(*(number - 1 for number in size))
        live.click(*place)
        live.see("Player O, your move.")
        live.press("q")
        live.end()

    assert "7|8|X" in live.screen.text


def test_digits_are_in_reading_order_or_as_on_a_numpad(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", size=(44, 10)) as live:
        live.see("1|2|3", "# numpad")
        live.press("#")
        live.see("7|8|9   Player X", "# row by row")
        live.press("7")
        live.see("X|8|9")
        live.press("q")
        assert live.end() == 0
        assert live.screen.rows[:5] == ["X|8|9", "-+-+-", "4|5|6", "-+-+-", "1|2|3"]

    settings = tmp_path / "config" / "noughts" / "settings.json"
    assert json.loads(settings.read_text())["numpad"] is True
    assert settings.stat().st_mode & 0o777 == 0o600
    with LiveBoard(tmp_path, "play", size=(44, 10)) as live:
        live.see("7|8|9   Player X", "# row by row")


def test_the_keys_that_are_shown_work(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--o", "bot:perfect") as live:
        live.see("Your move.", "h hint", "w why", "u undo", "r resign", "? help", "q quit")
        live.press("h")
        live.see("Take 1")
        live.press("1")
        live.see("Unbeatable takes 5.")
        live.press("w")
        live.see("O on 5")
        live.press("u")
        live.see("Your move.", "│   5   │   6")
        live.press("?")
        live.see("any key goes back", "numpad")
        live.press("x")
        live.see("Your move.")
        live.press("z", "\t", "\x1b[15~")
        live.press("r")
        live.see("Resign this game?", "y yes", "n no")
        live.press("n")
        live.see("Your move.")
        live.press("r", "y")
        live.see("Unbeatable Won!")


def test_help_is_a_page_in_the_smallest_window_too(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", size=(20, 5)) as live:
        live.see("q quit")
        live.press("?")
        live.see("Arrows choose a", "space more, q back")
        live.press("q")
        live.see("q quit")


def test_other_numbers_take_away_what_was_said_with_the_old_ones(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--o", "bot:perfect") as live:
        live.see("Your move.")
        live.press("1")
        live.see("Unbeatable takes 5.", "Your move.")
        live.press("h")
        live.see("Take 2")
        live.press("#")
        rows = live.see("│   8   │   9", "1   │   2   │   3")
        assert "Take" not in "\n".join(rows)
        live.press("r", "y", "#")  # which is not offered now
        live.see("Unbeatable Won!")
        live.press("q")
        live.end()

    assert "X|8|9" in live.screen.text


def test_what_is_asked_before_resigning_moves_nothing_else(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--o", "bot:perfect") as live:
        live.see("Your move.")
        live.press("1")
        before = live.see("Unbeatable takes 5.", "Your move.")
        live.press("r")
        rows = live.see("Resign this game?")
        for text in ("Your move.", "Unbeatable takes 5."):
            assert [text in row for row in rows] == [text in row for row in before]


@pytest.mark.parametrize("leave", ["q", CTRL_C])
def test_a_lost_game_leaves_the_board_who_won_and_why(tmp_path: Path, leave: str) -> None:
    with LiveBoard(tmp_path, "play", "--o", "bot:perfect", "--no-save") as live:
        live.see("Your move.")
        for key, *seen in [
            ("1", "Unbeatable takes 5.", "Your move."),
            ("2", "Unbeatable takes 3.", "Your move."),
            ("4", "Unbeatable Won!", "What next?"),
        ]:
            live.press(key)
            live.see(*seen)
        live.press(leave)
        live.end()
        shown = [row for row in live.screen.rows if row]

    assert shown[5] == "Unbeatable Won!"
    assert shown[6].startswith("The game turned on move ")
    assert shown[-1] == "Goodbye!"
    assert "takes" not in live.screen.text


@pytest.mark.parametrize("step", documents(), ids=lambda step: step.command)
def test_what_the_documents_print_is_seen_in_place(tmp_path: Path, step: Step) -> None:
    """One text, checked in a pipe by `test_sessions.py`, and here on the screen and after it is left."""
    with LiveBoard(tmp_path, *shlex.split(step.command)[1:], size=SIZE) as live:
        assert [*follow(step, live)]
        assert live.end() == 0

    rows, last = live.screen.rows, ending(step)
    assert any(
        all(map(fits, last, rows[start : start + len(last)])) for start in range(len(rows) - len(last))
    ), f"{last} in {rows}"


@pytest.mark.requirement("K3", "G7")
def test_a_key_that_does_nothing_is_answered_until_the_next(tmp_path: Path) -> None:
    refused = "Position is Invalid!", "Press a number from 1 to 9, or ? for help."
    unused = "That key does nothing now."
    with LiveBoard(tmp_path, "play", "--no-save") as live:
        live.see("Player X, your move.")
        for key in (
            *"0zZ!,=",
            "\t",
            "\x7f",
            "\x01",
            "\x1b",
            "\x1b[15~",
            "\x1b[[A",
            "\x1b[H",
            "é",
            "\u540d",
        ):
            live.press(key)
            live.see(*refused)
            live.press(UP)
            live.see_gone(*refused)
        live.press("5", "5")
        live.see("Player O, your move.", "Position is Invalid!", "That cell is taken.")
        live.press("0")
        live.see(*refused)
        live.press("r", "0")
        live.see("Resign this game?", unused)
        live.press("n")
        live.see_gone("Resign this game?", unused)
        live.press(LEFT)
        live.see_gone(*refused)
        live.press("\r", "1", RIGHT, " ", "9")
        live.see("Player X Won!", "What next?")
        for key in (*"5xn", UP):
            live.press(key)
            live.see("Player X Won!", unused)
            live.press("w")
            live.see_gone(unused)
            live.press("q")


def test_what_the_terminal_reports_is_not_a_key(tmp_path: Path) -> None:
    """It gets no answer, and closes no page; the click on 4 counts only while a cell is asked for."""
    with LiveBoard(tmp_path, "play", "--no-save") as live:
        live.see("Player X, your move.")
        for report in REPORTS:
            seen = len(live.screen.frames)
            live.press(report)
            live.press("h")
            live.see("Take 1")
            live.press("?")
            live.see("any key goes back")
            live.press(report, "\x1b[<0;5;9M", "5")  # closes the page, and nothing else
            live.see("Player X, your move.")
            live.press("r")
            live.see("Resign this game?")
            live.press(report, "\x1b[<0;5;9M", "n")
            live.see_gone("Resign")
            assert "Invalid" not in "".join(live.screen.frames[seen:])
        live.press("\x1b[<0;5;9M")
        live.see("Player O, your move.", "│   5   │")


def test_a_key_that_does_nothing_is_answered_in_the_smallest_window(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--no-save", "--wording", "gem", size=(20, 5)) as live:
        live.see("q quit")
        live.press("0")
        live.see("That is not a", "move you can", "make.")


@pytest.mark.parametrize(
    ("wording", "asked", "refused", "won"),
    [
        ("gem", "Ann: Enter a number between", "That is not a move you can make.", "Ann won!"),
        ("kata", "Ann, your move.", "Position is Invalid!", "Ann Won!"),
        ("narrative", "Ann, your move.", "That is not a move.", "Ann WON!"),
    ],
)
def test_a_wording_speaks_in_place_too(
    tmp_path: Path, wording: str, asked: str, refused: str, won: str
) -> None:
    seats = ["--x", "Ann", "--first", "X", "--no-save"]
    with LiveBoard(tmp_path, "play", *seats, "--wording", wording) as live:
        live.see(asked)
        live.press("1", "1")
        live.see(refused)
        live.press(*"5293")
        live.see(won)


def test_a_terminal_without_unicode_gets_plain_signs(tmp_path: Path) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    with LiveBoard(
        tmp_path, "play", "--x", "Zo\u00eb\u2026", "--o", "bot:casual", env=ascii_only
    ) as live:
        live.see("you 0 - Medium 0", "Your move.")
        live.press("q")
        assert live.end() == 0
    with LiveBoard(tmp_path, "play", "--plain", "--x", "Zo\u00eb\u2026", env=ascii_only) as live:
        live.see(r"Zo\xeb..., enter a position")
    with LiveBoard(tmp_path, env=ascii_only) as live:
        live.see("1e easy ... 1u unbeatable")


def test_a_wording_that_calls_players_by_name_always_does(tmp_path: Path) -> None:
    seats = ["--x", "Ann", "--o", "bot:casual", "--first", "X", "--no-save"]
    with LiveBoard(tmp_path, "play", *seats, "--wording", "gem") as live:
        live.see("Ann 0 · Medium 0", "Ann: Enter a number")
        live.press("r", "y")
        live.see("Ann 0 · Medium 1", "Ann resigned.")


@pytest.mark.requirement("A3")
def test_after_a_game_one_key_starts_the_next(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--o", "bot:casual") as live:
        live.see("Your move.")
        live.press("r", "y")
        live.see(
            "Medium Won!", "Enter again", "+ harder", "- easier", "o other mark", "w review", "q quit"
        )
        live.press("\r")
        live.see("you 0 · Medium 1", "Your move.")
        live.press("r", "y")
        live.see("you 0 · Medium 2", "What next?")
        live.press("o")
        live.see("Medium 2 · you 0", "Your move.")
        live.press("r", "y")
        live.see("Medium 3 · you 0", "What next?")
        live.press("+")
        live.see("Hard 0 · you 0", "Your move.")
        live.press("r", "y")
        live.see("Hard 1 · you 0", "What next?")
        live.press("w")
        live.see("any key goes back")
        live.press("x")
        live.see("What next?")
        live.press("q")
        assert live.end() == 0

    assert json.loads((tmp_path / "config/noughts/settings.json").read_text())["level"] == "Hard"


@pytest.mark.parametrize(
    ("arguments", "keys", "seats"),
    [
        ([], ["r", "y", "w"], "X is you, O is Medium."),
        (["--plain"], ["resign\r", "review\r"], "\nO is casual (bot)."),
        (["--plain", "--x", "Ann"], ["resign\r", "review\r"], "X is Ann, O is casual (bot)."),
    ],
)
def test_a_review_names_the_players(
    tmp_path: Path, arguments: list[str], keys: list[str], seats: str
) -> None:
    with LiveBoard(tmp_path, "play", "--o", "bot:casual", "--no-save", *arguments) as live:
        live.press(*keys)
        live.see(seats)


def test_the_loser_starts_after_the_players_have_changed_marks(tmp_path: Path) -> None:
    names = ["--x", "ann", "--o", "bob", "--first", "loser", "--no-save"]
    with LiveBoard(tmp_path, "play", *names) as live:
        live.see("ann, your move.")
        live.press(*"15293")
        live.see("ann Won!")
        live.press("o")
        live.see("bob, your move.", "bob 0 · ann 1")


def test_a_move_pressed_while_the_bot_thinks_is_not_made(tmp_path: Path) -> None:
    settings = tmp_path / "config" / "noughts" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"noughtsSettings": 1, "pauseSeconds": 0.5}')
    with LiveBoard(tmp_path, "play", "--o", "bot:perfect", "--no-save") as live:
        live.see("Your move.")
        live.press("1")
        rows = live.see("Unbeatable is thinking")
        assert "Your move." not in "\n".join(rows)
        live.press("2")
        live.see("Unbeatable takes 5.", "Your move.", "2   │   3")


def test_a_sentence_stays_until_the_position_changes(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--no-save") as live:
        live.see("your move.")
        live.press(*"15293")
        live.see("The game turned on move 4")
        live.press("w")
        live.see("any key goes back")
        live.press("x")
        live.see("What next?", "The game turned on move 4")
        live.press("\r")
        rows = live.see("Player X, your move.")
        assert "turned" not in "\n".join(rows)


def test_the_end_says_what_decided_the_game(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--no-save") as live:
        for key in "15293":  # O does not stop 1-2-3
            live.press(key)
        live.see("Player X Won!", "move 4")


@pytest.mark.requirement("G7")
@pytest.mark.parametrize(("keys", "code"), [(["q"], 0), ([CTRL_D], 0), ([CTRL_C], 130)])
def test_leaving_in_the_middle_says_how_to_resume(tmp_path: Path, keys: list[str], code: int) -> None:
    with LiveBoard(tmp_path, "play") as live:
        live.see("your move.")
        live.press("5", "5")
        live.see("Player O, your move.", "That cell is taken.")
        live.press(*keys)
        assert live.end() == code
        shown = [row for row in live.screen.rows if row]

    assert shown[:5] == ["1|2|3", "-+-+-", "4|X|6", "-+-+-", "7|8|9"]
    assert shown[5].startswith("The game is saved: noughts resume ")
    assert shown[6:] == ["Goodbye!"]
    with LiveBoard(tmp_path, *shown[5].split()[-2:]) as live:
        live.see("Player O, your move.")


def test_a_resize_redraws_the_board(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play") as live:
        live.see("┌─────┐")
        for size, sign in [((20, 5), "1|2|3"), ((200, 60), "┌─────────┐"), ((80, 24), "┌─────┐")]:
            live.resize(*size)
            live.see(sign, "Player X", "q quit")
            assert not live.screen.has_scrolled


@pytest.mark.parametrize("size", [(1, 1), (5, 5), (19, 4), (65535, 65535), (20, 500), (500, 5)])
def test_any_window_can_be_played_in(tmp_path: Path, size: tuple[int, int]) -> None:
    with LiveBoard(tmp_path, "play", "--no-save", size=size) as live:
        live.press(*"15293", "q")
        assert live.end() == 0
        assert b"Player X Won!" in live.session.output


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", shell=JOB_CONTROL) as live:
        live.see("Player X, your move.")
        in_place = live.session.settings()
        live.press(CTRL_Z)
        live.see_shell()
        live.see("Stopped")
        assert live.session.settings() != in_place
        live.press("fg\n")
        live.see("Player X, your move.")
        assert live.screen.is_full_screen
        live.press("5", "q")
        assert live.end() == 0
        assert "noughts resume " in live.screen.text
        assert live.session.settings() == live.session.initial_settings


def test_a_game_that_was_stopped_can_be_ended(tmp_path: Path) -> None:
    """From the background, where the terminal is somebody else's."""
    killing = ("/bin/sh", "-mc", '"$@"; echo Stopped; read answer; kill %1; fg; echo Over', "sh")
    with LiveBoard(tmp_path, "play", shell=killing) as live:
        live.see("Player X, your move.")
        live.press(CTRL_Z)
        live.see("Stopped")
        live.press("\n")
        live.see("Over")


@pytest.mark.parametrize(
    ("way", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("hang up", 129), ("SIGQUIT", 131)]
)
def test_a_closed_terminal_ends_the_game(tmp_path: Path, way: str, code: int) -> None:
    with LiveBoard(tmp_path, "play") as live:
        live.see("Player X, your move.")
        live.press("5")
        live.see("Player O, your move.")
        assert live.session.end_by(way) == code
        assert live.session.settings() in ([], live.session.initial_settings)

    with LiveBoard(tmp_path, "resume") as live:
        live.see("Player O, your move.")


@pytest.mark.parametrize("name", ["三目並べ", "e\u0301" * 10, "👩‍👩‍👧", "ﷺ", "a" * 32])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_names_of_any_width_break_nothing(tmp_path: Path, size: tuple[int, int], name: str) -> None:
    with LiveBoard(tmp_path, "play", "--no-save", "--x", name, size=size) as live:
        live.press(*"15293")
        live.see("Won")
        assert not live.screen.has_scrolled


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["--plain"], {}),
        ([], {"NOUGHTS_PLAIN": "1"}),
        ([], {"TERM": "dumb"}),
        (["--events"], {}),
        (["--describe"], {}),
    ],
)
def test_lines_for_those_who_want_them(tmp_path: Path, arguments: list[str], env: dict[str, str]) -> None:
    with LiveBoard(tmp_path, "play", *arguments, env=env) as live:
        live.see("Player X, enter a position from 1 to 9:")
        assert b"?1049" not in live.session.output


def test_a_broken_settings_file_is_reported_and_kept(tmp_path: Path) -> None:
    settings = tmp_path / "config" / "noughts" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{")
    with LiveBoard(tmp_path, "play") as live:
        live.press("#")
        live.see("7", "Player X, your move.")
        live.press("q")
        live.end()

    assert b"settings.json is not a noughtsSettings: " in live.session.output
    assert settings.read_text() == "{"


# The first question


def test_enter_plays_the_computer_at_medium_at_first(tmp_path: Path) -> None:
    with LiveBoard(tmp_path) as live:
        live.see(
            "noughts",
            "1  the computer   (Medium;",
            "2  a friend at this keyboard",
            "3  watch two bots",
            "Enter is 1:",
        )
        live.press("\r")
        live.see("Your move.")
        live.press("r", "y")
        live.see("Medium Won!")


def test_the_level_is_remembered(tmp_path: Path) -> None:
    for answer, shown in [
        ("1u\r", "Unbeatable Won!"),
        ("\r", "Unbeatable Won!"),
        ("beginner\r", "Beginner Won!"),
    ]:
        with LiveBoard(tmp_path) as live:
            live.see("Enter is 1:")
            live.press(answer)
            live.see("Your move.")
            live.press("r", "y")
            live.see(shown)


def test_what_is_typed_ahead_of_the_board_is_played(tmp_path: Path) -> None:
    with LiveBoard(tmp_path) as live:
        live.see("Enter is 1:")
        live.press("1\r5")
        live.see("Your move.", "Medium takes")
        live.press("q")
        live.end()

    assert "4|X|6" in live.screen.text


def test_an_unfinished_game_is_offered(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play", "--x", "ann", "--o", "bot:club") as live:
        live.see("Your move.")
        live.press("5")
        live.see("Hard takes")
        live.press("q")
        live.end()
    with LiveBoard(tmp_path) as live:
        live.see("3  go on with the game against Hard, move 3", "4  watch two bots")
        live.press("3\r")
        live.see("Your move.")


@pytest.mark.parametrize(("answer", "shown"), [("2", "Player X, your move."), ("3", "Hard:")])
def test_a_friend_and_two_bots(tmp_path: Path, answer: str, shown: str) -> None:
    with LiveBoard(tmp_path) as live:
        live.see("Enter is 1:")
        live.press(f"{answer}\r")
        live.see(shown)


def test_nonsense_at_the_first_question_is_answered(tmp_path: Path) -> None:
    with LiveBoard(tmp_path) as live:
        live.see("Enter is 1:")
        live.press("xyzzy\r")
        live.see("Type a number from 1 to 3, a level such as easy, or q to leave.")


@pytest.mark.parametrize(("keys", "code"), [("q\r", 0), (CTRL_D, 0), (CTRL_C, 130)])
def test_leaving_the_first_question_says_goodbye(tmp_path: Path, keys: str, code: int) -> None:
    with LiveBoard(tmp_path) as live:
        live.see("Enter is 1:")
        live.press(keys)
        assert live.end() == code
        rows = [row.removesuffix(" q") for row in live.screen.rows]
        assert rows[rows.index("Enter is 1:") + 1] == "Goodbye!"


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((20, 5), ["noughts", "1 computer 2 friend", "3 go on 4 watch", "Enter is 1:"]),
        (
            (44, 10),
            [
                "noughts",
                "  1  the computer   (Medium; 1b beginner, 1e",
                "     easy … 1u unbeatable)",
                "  2  a friend at this keyboard",
                "  3  go on with the last game, move 2",
                "  4  watch two bots",
                "Enter is 1:",
            ],
        ),
    ],
)
def test_the_first_question_fits_a_small_window(
    tmp_path: Path, size: tuple[int, int], shown: list[str]
) -> None:
    with LiveBoard(tmp_path, "play") as live:
        live.press("5", "q")
        live.end()
    with LiveBoard(tmp_path, size=size) as live:
        assert [row for row in live.see("Enter is 1:") if row] == shown


def test_leaving_while_others_play_says_goodbye(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "watch", "--interval", "600") as live:
        live.see("Player X:")
        live.press(CTRL_C)
        assert live.end() == 130
        assert live.screen.rows[0] == "Goodbye!"


def test_without_a_terminal_noughts_alone_is_play() -> None:
    assert noughts(typed="5\n").stdout == noughts("play", typed="5\n").stdout


# Watching and replaying


def test_watch_redraws_one_board(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "watch", "--seed", "1", "--interval", "600", "--games", "2") as live:
        for mark in "XOXOX":
            live.see(f"Player {mark}:", "n next", "q quit")
            live.press("n")
        live.press("q")
        assert live.end() == 0
        assert not live.screen.has_scrolled
        assert [row for row in live.screen.rows if row][5:] == ["Goodbye!"]


def test_watch_can_be_left_if_it_does_not_pause(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "watch", "--interval", "0", "--games", "1000000") as live:
        live.see("q quit")
        live.press("q")
        assert live.end() == 0


def test_replay_steps_through_a_saved_game(tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "play") as live:
        live.see("your move.")
        live.press(*"15293")
        live.see("Player X Won!")
        live.press("q")
        live.end()
    env = environment(NOUGHTS_STORE=f"sqlite:{tmp_path}/games")
    [saved] = json.loads(noughts("games", "--json", env=env).stdout)
    with LiveBoard(tmp_path, "replay", saved["id"], size=(44, 10)) as live:
        live.see("0/5", "Player X starts.")
        live.press(RIGHT, " ", "n")
        live.see("3/5", "X|X|", "Player X:")
        live.press(LEFT)
        live.see("2/5")
        live.press(RIGHT * 100)
        live.see("5/5")
        live.press("q")
        assert live.end() == 0


def test_replay_says_who_plays_and_what_happened(tmp_path: Path) -> None:
    save(tmp_path, "left", "1", "undo", "5", "resign", x="Ann", o="Bob")
    env = {"NOUGHTS_STORE": url(tmp_path)}
    with LiveBoard(tmp_path, "replay", "left", env=env) as live:
        for step, *said in [
            ("0/4", "Ann starts.", "Enter next"),
            ("1/4", "Ann:", "Enter next"),
            ("2/4", "Ann took back.", "Enter next"),
            ("3/4", "Ann:", "Enter next"),
            ("4/4", "Ann WON!", "Bob resigned.", "b back"),
        ]:
            rows = live.see(step, "Ann · Bob", *said, "q quit")
            [place] = [number for number, row in enumerate(rows) if step in row]
            assert "b back" in rows[place + 1]
            assert ("Enter next" in "\n".join(rows)) == ("Enter next" in said)
            live.press("\r")
