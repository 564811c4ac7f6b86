"""The programs of `examples/documents`: each document's own examples, and whole games."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from noughts import Board, CreateGame, PlaceToken, decide, fold, parse_board, parse_moves, replay
from support.command import environment
from support.deadlines import DEADLINE_SECONDS
from support.documents import board_texts, interrupted, questions

FOLDER = Path(__file__).parents[1] / "examples" / "documents"
PROGRAMS = "narrative", "events", "algorithm", "gem", "kata"


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(f"document_{name}", FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


narrative, events, algorithm, gem, kata = map(load, PROGRAMS)


def run(name: str, *arguments: str, typed: str | bytes = "") -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *arguments],
        input=typed.encode() if isinstance(typed, str) else typed,
        capture_output=True,
        env=environment(PYTHONIOENCODING="utf-8:strict"),
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    return subprocess.CompletedProcess(ran.args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def played(name: str, *arguments: str, typed: str = "") -> list[str]:
    """Return the lines that a program prints before it exits cleanly."""
    ran = run(name, *arguments, typed=typed)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def lines(text: str) -> str:
    """Return what is typed for keys in a row."""
    return "".join(f"{key}\n" for key in text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_short_and_uses_public_names_alone(name: str) -> None:
    source = (FOLDER / f"{name}.py").read_text()
    modules, used = set(), set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom("noughts", names):
                used |= {alias.name for alias in names}
            case ast.ImportFrom(str(module)):
                modules.add(module.partition(".")[0])
            case ast.Import(names):
                modules |= {alias.name for alias in names}
            case ast.Attribute(ast.Name("noughts"), attribute):
                used.add(attribute)

    assert source.count("\n") <= 100
    assert modules - {"noughts"} <= sys.stdlib_module_names
    assert used
    assert used <= {*import_module("noughts").__all__}


# The narrative


@pytest.mark.parametrize(
    ("board", "picture", "over"),
    [
        ([""] * 9, " | |\n-+-+-\n | |\n-+-+-\n | |", (False, "")),
        ([*"X__", *"XO_", *"X_O"], "X| |\n-+-+-\nX|O|\n-+-+-\nX| |O", (True, "X")),
        ([*"X_X", *"OOO", *"X__"], "X| |X\n-+-+-\nO|O|O\n-+-+-\nX| |", (True, "O")),
        ([*"XOX", *"OOX", *"XXO"], "X|O|X\n-+-+-\nO|O|X\n-+-+-\nX|X|O", (True, "")),
    ],
    ids=["empty", "vertical line", "horizontal line", "draw"],
)
def test_the_boards_of_the_narrative(board: list[str], picture: str, over: tuple[bool, str]) -> None:
    assert narrative.display(board) == picture
    assert narrative.game_over(board) == over


def test_the_next_move_of_the_narrative_is_a_random_one_on_a_new_board() -> None:
    board = [*"X__", *"_O_", *"___"]

    after = {str(narrative.next_move(board, "X")) for _ in range(200)}

    assert board == [*"X__", *"_O_", *"___"]
    assert after == {str(parse_board(board).place(cell)) for cell in (1, 2, 3, 5, 6, 7, 8)}


def test_the_players_and_results_of_the_narrative() -> None:
    assert [narrative.switch_player(player) for player in "XO"] == ["O", "X"]
    assert [narrative.show_result(winner) for winner in ("X", "O", "")] == [
        "PLAYER X WON!",
        "PLAYER O WON!",
        "THE GAME ENDS WITH A DRAW!",
    ]


def test_the_narrative_plays_a_whole_game() -> None:
    *moves, result = played("narrative", "--interval", "0")

    board, player = Board(), "X"
    for start in range(0, len(moves), 6):
        name, *picture = moves[start : start + 6]
        after = parse_board("\n".join(picture))
        assert name == f"Player {player}:"
        assert after in {board.place(cell) for cell in board.free_cells}
        board, player = after, narrative.switch_player(player)
    assert board.is_over
    assert result == narrative.show_result(narrative.game_over(board)[1])


@pytest.mark.parametrize("interval", ["-1", "nan", "inf", "soon"])
def test_the_narrative_refuses_an_interval_that_is_none(interval: str) -> None:
    ran = run("narrative", "--interval", interval)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "--interval" in ran.stderr.splitlines()[-1]


@pytest.mark.requirement("N3")
def test_the_narrative_waits_two_seconds_between_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(narrative.time, "sleep", pauses.append)
    monkeypatch.setattr(sys, "argv", ["narrative.py"])

    narrative.main()

    assert 4 <= len(pauses) <= 8
    assert {*pauses} == {2}


# The events


@pytest.mark.requirement("E7")
@pytest.mark.parametrize(
    ("given", "when", "then"),
    [
        ("", "gameCreated", "playerActive(X)"),
        ("", "playerPlacedToken(player X)", "playerActive(O)"),
        ("", "playerPlacedToken(player O)", "playerActive(X)"),
        ("", "gameWon() || gameLost() || gameDraw()", "gameCompleted(true)"),
        ("playerPlacedToken(0,0,X), playerPlacedToken(0,1,X)", "playerPlacedToken(0,2,X)", "gameWon(X)"),
        ("playerPlacedToken(0,0,X), playerPlacedToken(1,0,X)", "playerPlacedToken(2,0,X)", "gameWon(X)"),
        (
            "playerPlacedToken(0,0,X), playerPlacedToken(1,0,X)",
            "playerPlacedToken(0,2,X)",
            "playerActive(O)",
        ),
        ("playerPlacedToken(0,0,X), playerPlacedToken(1,1,X)", "playerPlacedToken(2,2,X)", "gameWon(X)"),
        ("gamePlacedCount(9)", "gameCompleted(false)", "gameDraw()"),
        ("playerPlacedToken(0,0,X)", "playerPlacedToken(0,0,O)", "playerNotifyIllegalMove(O,cellTaken)"),
        ("playerPlacedToken(2,2,X)", "playerPlacedToken(2,2,X)", "playerNotifyIllegalMove(X,cellTaken)"),
    ],
)
def test_the_examples_of_the_events(given: str, when: str, then: str) -> None:
    answer = events.following(events.read(f"Given [ {given} ]\nWhen  [ {when} ]"))

    assert any(str(event).startswith(then) for event in answer)


def test_the_events_follow_lines_and_arguments() -> None:
    typed = """Given [ playerPlacedToken(0,0,X), playerPlacedToken(0,1,X) ]
When  [ playerPlacedToken(0,2,X) ]
Then  [ gameWon(player X) ]

Given [ ]
When  [ playerPlacedToken(1,1,X) ]
playerPlacedToken(1,1,O)
playerPlacedToken(0,0,O)
playerActive(X)
playerPlacedToken(2,2,X), playerPlacedToken(2,2,O)
playerPlacedToken(2,2,O)
playerPlacedToken(2,0,O)
"""
    ended = "Then  [ gamePlacedCount(5), gameWon(X), gameLost(O), gameCompleted(true) ]"
    first = "Then  [ gamePlacedCount(1), playerActive(O) ]"
    second = "Then  [ gamePlacedCount(2), playerActive(X) ]"
    illegal = "Then  [ playerNotifyIllegalMove(O,cellTaken) ]"

    fourth = "Then  [ gamePlacedCount(4), playerActive(X) ]"
    late = "Then  [ playerNotifyIllegalMove(O,gameOver) ]"
    alone = [f"playerPlacedToken({square},X)" for square in ("0,0", "1,1", "2,0", "0,1", "0,2")]

    assert played("events", typed=typed) == [
        *(ended, first, illegal, second, "Then  [  ]"),
        *(illegal, illegal, fourth),
    ]
    assert played("events", "gameCreated", "playerPlacedToken(0,0,X)") == [
        "Then  [ gameReady(), playerActive(X) ]",
        first,
    ]
    assert played("events", "gameCreated", *alone, "playerPlacedToken(2,2,O)")[-2:] == [
        "Then  [ gamePlacedCount(9), gameWon(X), gameLost(O), gameCompleted(true) ]",
        late,
    ]


@pytest.mark.parametrize("moves", ["14253", "142596", "123465897", "891746253"])
def test_the_events_follow_a_whole_game(moves: str) -> None:
    game = replay(decide(None, CreateGame()))
    typed, answers = ["gameCreated(X)"], ["Then  [ gameReady(), playerActive(X) ]"]
    for cell in parse_moves(moves):
        token, *follow = decide(game, PlaceToken(game.board.turn, cell))
        game = fold((token, *follow), game)
        typed.append(str(token))
        answers.append(f"Then  [ {', '.join(map(str, follow))} ]")

    assert played("events", *typed) == answers
    assert game.is_over


@pytest.mark.parametrize(
    "wrong",
    [
        *("Horizontal win", "tokenPlaced(0,0,X)", "playerPlacedToken(0,0,X", "playerPlacedToken", "9"),
        *("playerPlacedToken(3,0,X)", "playerPlacedToken(0,0)", "playerPlacedToken(0,0,Y)"),
    ],
)
def test_what_is_not_an_event_gets_a_sentence_and_changes_nothing(wrong: str) -> None:
    sentence, answer = played("events", wrong, "playerPlacedToken(0,0,X)")

    assert re.fullmatch(r"(Write|A token has) .+\.", sentence)
    assert answer == "Then  [ gamePlacedCount(1), playerActive(O) ]"


def test_events_that_leave_no_harmless_move_get_a_sentence() -> None:
    tokens = ", ".join(f"playerPlacedToken({row},{column},X)" for row in range(3) for column in range(3))

    assert played("events", tokens) == [
        "No harmless move is left to put in: write the tokens of both players."
    ]


# The algorithm


@pytest.mark.requirement("A1")
@pytest.mark.parametrize(
    ("moves", "result"),
    [
        ("14253", "Game over: X wins!"),
        ("142596", "Game over: O wins!"),
        ("123465897", "Game over: it is a tie!"),
        ("891746253", "Game over: X wins!"),
    ],
    ids=["x", "o", "tie", "ninth mark"],
)
def test_the_algorithm_plays_to_each_end(moves: str, result: str) -> None:
    said = played("algorithm", typed=lines(f"{moves}n"))

    assert said[-2:] == [result, "Start a new game? (y/n)"]
    asked = [line.partition(", mark an empty cell: ") for line in said if "mark an empty" in line]
    assert [player for player, _, _ in asked] == [*"XOXOXOXOX"[: len(moves)]]
    assert [len(empty.split(", ")) for _, _, empty in asked] == [*range(9, 9 - len(moves), -1)]


@pytest.mark.requirement("A3")
def test_the_algorithm_asks_for_an_empty_cell_and_for_a_new_game() -> None:
    said = played("algorithm", typed="5\n5\n0\n10\na1\n0,2\n\n1\n2\n3\n8\ny\n")

    assert said.count("That is not an empty cell.") == 6
    assert said.count("X, mark an empty cell: 1, 2, 3, 4, 5, 6, 7, 8, 9") == 2
    assert said[-1] == "Goodbye!"


@pytest.mark.requirement("A4")
def test_the_algorithm_tests_all_possibilities() -> None:
    assert played("algorithm", "--all") == [
        "131,184 games: X wins",
        " 77,904 games: O wins",
        " 46,080 games: it is a tie",
        "255,168 games in all",
    ]


# The gem


BOB = gem.Player({"color": "X", "name": "bob"})
FRANK = gem.Player({"color": "O", "name": "frank"})


def grid(*rows: str) -> list[list[object]]:
    return [[gem.Cell(sign.strip("_")) for sign in row] for row in rows]


def test_a_cell_has_a_value() -> None:
    assert gem.Cell().value == ""
    assert gem.Cell("X").value == "X"


def test_a_player_has_a_color_and_a_name() -> None:
    player = gem.Player({"color": "X", "name": "Someone"})

    assert (player.color, player.name) == ("X", "Someone")


@pytest.mark.requirement("G1")
@pytest.mark.parametrize(
    ("given", "missing"),
    [({}, "color and name"), ({"name": "bob"}, "color"), ({"color": "X"}, "name")],
    ids=["both", "color", "name"],
)
def test_a_player_without_a_color_or_a_name_is_an_error(given: dict[str, str], missing: str) -> None:
    with pytest.raises(ValueError, match=f": {missing} missing$"):
        gem.Player(given)


def test_a_board_has_a_grid() -> None:
    given = grid("___", "__X", "___")

    assert [len(row) for row in gem.Board().grid] == [3, 3, 3]
    assert {cell.value for row in gem.Board().grid for cell in row} == {""}
    assert gem.Board(grid=given).grid is given
    assert gem.Board(given).get_cell(2, 1).value == "X"


def test_a_cell_is_set_once() -> None:
    board = gem.Board()

    board.set_cell(2, 1, "X")
    with pytest.raises(ValueError, match="the cell is taken by X"):
        board.set_cell(2, 1, "O")

    assert board.grid == grid("___", "__X", "___")


@pytest.mark.requirement("G3")
@pytest.mark.parametrize(
    ("rows", "state"),
    [
        (("XXX", "OXO", "OO_"), "winner"),
        (("XX_", "OXO", "OX_"), "winner"),
        (("X__", "OXO", "OXX"), "winner"),
        (("XOX", "OXO", "OXO"), "draw"),
        (("X__", "O__", "O__"), False),
        (("___", "___", "___"), False),
    ],
)
def test_the_state_of_the_game_is_read_from_a_grid(rows: tuple[str, ...], state: object) -> None:
    assert gem.Board(grid(*rows)).game_over() == state


def test_a_board_is_shown_in_rows(capsys: pytest.CaptureFixture[str]) -> None:
    gem.Board(grid("X_O", "_X_", "___")).formatted_grid()

    assert capsys.readouterr().out == "X _ O\n_ X _\n_ _ _\n"


def test_the_players_are_shuffled_and_switched() -> None:
    games = [gem.Game([BOB, FRANK]) for _ in range(200)]
    starters = [game.current_player for game in games]
    assert {player.name for player in starters} == {"bob", "frank"}
    assert all({game.current_player.name, game.other_player.name} == {"bob", "frank"} for game in games)

    for game in games:
        game.switch_players()

    assert [game.other_player for game in games] == starters


def test_a_game_asks_for_moves_and_names_the_winner() -> None:
    game = gem.Game([BOB, FRANK], gem.Board(grid("XX_", "OXO", "OX_")))
    game.current_player = BOB

    assert game.solicit_move() == "bob: Enter a number between 1 and 9 to make your move"
    assert game.game_over_message() == "bob won!"
    game.board = gem.Board(grid("XOX", "OXO", "OXO"))
    assert game.game_over_message() == "The game ended in a tie"
    game.board = gem.Board()
    assert game.game_over_message() == ""


def test_a_move_is_a_number() -> None:
    game = gem.Game([BOB, FRANK])

    moves = [game.get_move(number) for number in "123456789"]

    assert moves == [[x, y] for y in range(3) for x in range(3)]
    assert moves[6] == [0, 2]
    for wrong in ("0", "10", "a1", "0,2", "", "٣"):
        with pytest.raises(ValueError, match="is not a number between 1 and 9"):
            game.get_move(wrong)


@pytest.mark.requirement("G6")
@pytest.mark.parametrize(
    ("moves", "end"),
    [
        ("14253", ["bob won!", "X X X", "O O _", "_ _ _"]),
        ("142596", ["frank won!", "X X _", "O O O", "_ _ X"]),
        ("123465897", ["The game ended in a tie", "X O X", "O O X", "X X O"]),
    ],
    ids=["first player", "second player", "tie"],
)
def test_bob_and_frank_play_a_whole_game(moves: str, end: list[str]) -> None:
    said = "\n".join(played("gem", typed=lines(moves)))
    if "\nfrank has randomly" in said:
        swap = {"bob": "frank", "frank": "bob", "X": "O", "O": "X"}
        said = re.sub(r"\b(bob|frank|X|O)\b", lambda word: swap[word[0]], said)

    shown = said.splitlines()
    assert shown[:11] == [
        "Welcome to tic tac toe",
        "bob has randomly been selected as the first player",
        *["_ _ _"] * 3,
        "",
        "bob: Enter a number between 1 and 9 to make your move",
        *["X _ _", "_ _ _", "_ _ _"],
        "",
    ]
    assert shown[11] == "frank: Enter a number between 1 and 9 to make your move"
    assert shown[-4:] == end


@pytest.mark.requirement("G7")
def test_a_move_that_cannot_be_made_is_asked_for_again() -> None:
    said = played("gem", typed="5\n5\n0\n10\nno\n\n1\n")

    refused = [line for line in said if line.startswith("That is not a move you can make: ")]
    assert [line[33:].partition(" is ")[2] for line in refused] == [
        f"taken by {said[8][2]}.",
        *["not a number between 1 and 9."] * 4,
    ]
    first, *second, last = [question.partition(":")[0] for question in questions(said)]
    assert second == [{"bob": "frank", "frank": "bob"}[first]] * 6
    assert last == first
    assert board_texts(said)[-1] in ("O__/_X_/___", "X__/_O_/___")
    assert said[-1] == "Goodbye!"


# The kata


def test_the_positions_of_the_kata() -> None:
    drawn = kata.draw(Board())

    assert kata.POSITIONS == {
        "1": (0, 0),
        "2": (0, 2),
        "3": (0, 4),
        "4": (2, 0),
        "5": (2, 2),
        "6": (2, 4),
        "7": (4, 0),
        "8": (4, 2),
        "9": (4, 4),
    }
    assert [len(row) for row in drawn] == [5] * 5
    assert {
        drawn[row][column]: (row, column) for row in (0, 2, 4) for column in (0, 2, 4)
    } == kata.POSITIONS


@pytest.mark.requirement("K4")
@pytest.mark.parametrize(
    ("moves", "end"),
    [
        ("14253", ["X|X|X", "-+-+-", "O|O|6", "-+-+-", "7|8|9", "Player X Won!"]),
        ("142596", ["X|X|3", "-+-+-", "O|O|O", "-+-+-", "7|8|X", "Player O Won!"]),
        ("123465897", ["X|O|X", "-+-+-", "O|O|X", "-+-+-", "X|X|O", "Game is Draw!"]),
    ],
    ids=["X", "O", "draw"],
)
def test_the_kata_plays_a_whole_game(moves: str, end: list[str]) -> None:
    said = played("kata", typed=lines(moves))

    asked = [line for line in said if line.endswith("enter a position from 1 to 9:")]
    assert [line[7] for line in asked] == [*"XOXOXOXOX"[: len(moves)]]
    assert said[-6:] == end


@pytest.mark.parametrize("typed", ["0", "10", "-1", "five", "a1", "0,2", "", "٣", "5"])
def test_any_other_position_is_invalid(typed: str) -> None:
    said = played("kata", typed=f"5\n{typed}\n")

    assert said[-4:] == [
        "Player O, enter a position from 1 to 9:",
        "Position is Invalid!",
        "Player O, enter a position from 1 to 9:",
        "Goodbye!",
    ]


# Leaving


@pytest.mark.parametrize("name", ["algorithm", "gem", "kata"])
@pytest.mark.parametrize("typed", ["", "5\n", "5\n1"])
def test_the_end_of_input_leaves(name: str, typed: str) -> None:
    assert played(name, typed=typed)[-1] == "Goodbye!"


@pytest.mark.parametrize("name", PROGRAMS[1:])  # the narrative reads nothing
def test_a_program_runs_without_any_input(name: str) -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, str(FOLDER / f"{name}.py")],
        capture_output=True,
        env=environment(),
        timeout=DEADLINE_SECONDS,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("events", 0, "Write events such as "),
        ("algorithm", 0, "That is not an empty cell."),
        ("gem", 0, "That is not a move you can make: "),
        ("kata", 0, "Position is Invalid!"),
    ],
)
def test_what_is_not_text_is_refused(name: str, code: int, said: str) -> None:
    ran = run(name, typed=b"\xff\n")

    assert ran.returncode == code
    assert said in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_reader_that_leaves_ends_a_program_without_a_word(name: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [sys.executable, "-u", str(FOLDER / f"{name}.py")],
        input="gameCreated\n",
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    os.close(writing)

    assert (ran.returncode, ran.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.parametrize(
    ("name", "typed", "last"),
    [
        ("narrative", "", "Player X:"),
        ("events", "gameCreated\n", "Then  [ gameReady(), playerActive(X) ]"),
        ("algorithm", "5\n", "O, mark an empty cell: 1, 2, 3, 4, 6, 7, 8, 9"),
        ("gem", "", r"\w+: Enter a number between 1 and 9 to make your move"),
        ("kata", "5\n", "Player O, enter a position from 1 to 9:"),
    ],
)
def test_ctrl_c_leaves(name: str, typed: str, last: str) -> None:
    pattern = re.compile(last if name == "gem" else re.escape(last))

    ran = interrupted(
        [sys.executable, str(FOLDER / f"{name}.py")],
        lambda line: bool(pattern.fullmatch(line)),
        environment(),
        typed,
    )

    assert (ran.returncode, ran.stderr) == (130, "")
    assert ran.stdout.endswith("\n\nGoodbye!\n") == (name != "events")
