"""Steps of document 003, the package."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from noughts import GEM, WORDINGS, Board, Game, Mark, Player, errors, parse_board, parse_cell, standing
from support.command import COMMAND
from support.deadlines import DEADLINE_SECONDS
from support.documents import Ran, board_texts, created, interrupted, keys, questions
from support.forked import noughts

scenarios("package.feature")

EXAMPLE = Path(__file__).parents[2] / "examples" / "documents" / "gem.py"
MARKS = {"bob": "X", "frank": "O"}


# Cell, player, board and game


@then(parsers.parse('"{name}" is a public name of the library'))
def is_public(name: str) -> None:
    assert name in import_module("noughts").__all__
    assert hasattr(import_module("noughts"), name)


@then("every public name can be imported from the library")
def can_be_imported() -> None:
    library = import_module("noughts")
    assert library.__all__
    assert [name for name in library.__all__ if not hasattr(library, name)] == []


@then("the library is marked as typed")
def is_typed() -> None:
    assert files("noughts").joinpath("py.typed").is_file()


@when(
    parsers.parse('a player is made with the name "{name}" and the mark {mark}'), target_fixture="player"
)
def make_player(name: str, mark: str) -> Player:
    return Player(name=name, mark=Mark(mark))


@then(parsers.parse('the player\'s name is "{name}" and their mark is {mark}'))
def player_is(player: Player, name: str, mark: str) -> None:
    assert (player.name, player.mark) == (name, Mark(mark))


@when(parsers.parse("a player is made without {missing}"), target_fixture="error")
def make_incomplete_player(missing: str) -> str:
    whole = {"name": "Someone", "mark": Mark.X}
    given_fields = {field: value for field, value in whole.items() if field not in missing.split(" and ")}
    make: Callable[..., Player] = Player
    with pytest.raises(TypeError) as raised:
        make(**given_fields)
    return str(raised.value)


@then(parsers.parse("the error says that {missing} is missing, and names nothing else"))
def names_what_is_missing(error: str, missing: str) -> None:
    assert re.findall(r"\b(?:name|mark)\b", error) == missing.split(" and ")


@when(parsers.re(r"a game is created for (?P<first>[XO]) to start"), target_fixture="game")
def create(first: str) -> Game:
    return created(Mark(first))


@then(parsers.re(r"its board is (?P<board>[XO_/]+) and (?P<mark>[XO]) is to move"))
def game_is(game: Game, board: str, mark: str) -> None:
    assert str(game.board) == board
    assert game.active is Mark(mark)


# A board from a grid


@given("the grid", target_fixture="board")
def grid(docstring: str) -> Board:
    return parse_board(json.loads(docstring))


@then(parsers.re(r"the cell at x (?P<x>\d) and y (?P<y>\d) (?:holds (?P<mark>[XO])|is blank)"))
def cell_holds(board: Board, x: str, y: str, mark: str | None) -> None:
    assert board.mark_at(int(x), int(y)) is (Mark(mark) if mark else None)
    assert board.mark_at(x=int(x), y=int(y)) is (Mark(mark) if mark else None)


@then(parsers.parse("there is no cell at x {x:d} and y {y:d}"))
def no_cell(board: Board, x: int, y: int) -> None:
    with pytest.raises(errors.NoSuchCell):
        board.mark_at(x, y)


@then(parsers.parse('the state of the game is "{words}"'))
def state_is(board: Board, words: str) -> None:
    kind = "winner" if board.winner else "draw" if board.is_draw else "not over"
    assert f"{kind}: {standing(board)}" == words
    assert board.is_over is (kind != "not over")


# Two people on the command line


@then(parsers.parse('the first question is "{question}"'))
def first_question(ran: Ran, question: str) -> None:
    assert questions(ran.stdout.splitlines())[0] == question


@then(
    parsers.re(
        r"it (?P<which>first|then) prints "
        r"that bob or frank has randomly been selected as the first player"
    ),
    target_fixture="starter",
)
def one_selected(ran: Ran, which: str) -> str:
    line = ran.stdout.splitlines()[0 if which == "first" else 1]
    starter, announcement = line.split(" ", 1)
    assert starter in MARKS
    assert announcement == "has randomly been selected as the first player"
    return starter


@then("the selected player is asked first, and places their own mark")
def starter_is_asked(ran: Ran, starter: str) -> None:
    lines = ran.stdout.splitlines()
    assert questions(lines)[0] == f"{starter}: Enter a number between 1 and 9 to make your move"
    before, after, *_ = board_texts(lines)
    assert before == "___/___/___"
    assert re.sub("[_/]", "", after) == MARKS[starter]


@then(
    "bob has randomly been selected as the first player in some games, and frank in the others",
    target_fixture="selected",
)
def both_selected(ran: Ran) -> list[int]:
    lines = ran.stdout.splitlines()
    announcement = re.compile("(bob|frank) has randomly been selected as the first player")
    selected = [at for at, line in enumerate(lines) if announcement.fullmatch(line)]
    assert len(selected) == 40
    assert {lines[at].split()[0] for at in selected} == set(MARKS)
    return selected


@then("the selected player moves first, and places their own mark")
def selected_moves(ran: Ran, selected: list[int]) -> None:
    lines = ran.stdout.splitlines()
    for at in selected:
        starter = lines[at].split()[0]
        assert lines[at + 1] == f"{starter}:"
        board = board_texts(lines[at + 2 : at + (5 if " " in lines[at + 2][1::2] else 7)])[0]
        assert re.sub("[_/]", "", board) == MARKS[starter]


@when(
    parsers.re(r'I run "noughts (?P<arguments>[^"]+)" and the starter wins (?P<games>\d+) games'),
    target_fixture="ran",
)
def win_games(arguments: str, games: str, env_vars: dict[str, str]) -> Ran:
    typed = "y\n".join([keys("14253", None)] * int(games)) + "n\n"
    return noughts(*shlex.split(arguments), typed=typed, env=env_vars)


@then("the selected player is asked first in each of them")
def selected_asked(ran: Ran, selected: list[int]) -> None:
    lines = ran.stdout.splitlines()
    assert _asked_first(ran) == [lines[at].split()[0] for at in selected]


@then(parsers.parse("these players are asked first: {players}"))
def asked_first(ran: Ran, players: str) -> None:
    assert _asked_first(ran) == players.split(", ")


@then(parsers.parse("the number {number} is the cell at x {x:d} and y {y:d}"))
def number_is(number: str, x: int, y: int) -> None:
    assert Board().place(parse_cell(number)).mark_at(x, y) is Mark.X


@then(parsers.re(r'it finally prints the result "(?P<result>[^"]+)" (?P<where>\w+) the final board'))
def result_and_board(ran: Ran, result: str, where: str) -> None:
    wording = next(each for each in WORDINGS.values() if each.result(Mark.X) == result)
    board = wording.draw(parse_board("XXX/OO_/___"))
    parts = [result, board] if where == "before" else [board, result]
    assert ran.stdout.endswith("\n" + "\n".join(parts) + "\n")


@then("the gem shows it as")
def gem_shows(board: Board, docstring: str) -> None:
    assert GEM.draw(board) == docstring


# The example


@when(
    parsers.re(r"I run the example(?: and play (?P<moves>\d+))?(?: and type (?P<typed>.+))?"),
    target_fixture="ran",
)
def run_example(moves: str | None, typed: str | None, env_vars: dict[str, str]) -> Ran:
    return subprocess.run(
        [sys.executable, str(EXAMPLE)],
        input=keys(moves, typed),
        capture_output=True,
        encoding="utf-8",
        env=env_vars,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


@then("it finally prints that the selected player won with the top row")
def starter_won(ran: Ran, starter: str) -> None:
    mark, other = ("X", "O") if starter == "bob" else ("O", "X")
    rows = [f"{mark} {mark} {mark}", f"{other} {other} _", "_ _ _"]
    assert ran.stdout.splitlines()[-4:] == [f"{starter} won!", *rows]


# What the document confesses to lack


@then(parsers.re(r"the boards it showed are (?P<boards>[XO_/ ]+)"))
def boards_shown(ran: Ran, boards: str) -> None:
    assert board_texts(ran.stdout.splitlines()) == boards.split()


@when(
    parsers.re(r'I press Ctrl-C in "noughts (?P<arguments>[^"]+)" once it has said "(?P<line>[^"]+)"'),
    target_fixture="ran",
)
def interrupt_after_line(arguments: str, line: str, env_vars: dict[str, str]) -> Ran:
    return interrupted([*COMMAND, *arguments.split()], lambda said: said == line, env_vars)


def _asked_first(ran: Ran) -> list[str]:
    """Return who gets the first question of each game."""
    asked = questions(ran.stdout.splitlines())
    starts = [0, *(at + 1 for at, question in enumerate(asked) if question == "Play again? (y/n)")]
    return [re.split("[:,]", asked[at])[0] for at in starts if at < len(asked)]
