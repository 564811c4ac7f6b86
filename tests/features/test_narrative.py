"""Steps of document 000, the narrative."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from noughts import (
    NARRATIVE,
    Board,
    Mark,
    NoughtsError,
    X,
    errors,
    game_over,
    next_move,
    parse_board,
    parse_moves,
)
from support.command import environment
from support.documents import Ran, board_texts
from support.forked import noughts

scenarios("narrative.feature")

BLANKS = {"an underscore": "_", "a dot": ".", "a space": " ", "an empty string": ""}
RESULTS = {"X": "PLAYER X WON!", "O": "PLAYER O WON!", "": "THE GAME ENDS WITH A DRAW!"}

# A clock for the command: sleeping ends at once, and its length is noted.
CLOCK = """\
import os, select

real = select.poll

class Poll:
    def __init__(self):
        self.real, self.sleeping = real(), False

    def register(self, file, events):
        self.real.register(file, events)
        self.sleeping = events == select.POLLIN

    def poll(self, milliseconds):
        if not self.sleeping:
            return self.real.poll(milliseconds)
        with open(os.environ["NOTES"], "a") as notes:
            notes.write(f"{milliseconds / 1000}\\n")
        return []

select.poll = Poll
"""


# The board


@when(
    parsers.re(
        r"(?P<text>[XO_/]+) is read from a (?P<shape>flat|nested) list with (?P<blank>.+) for a blank"
    ),
    target_fixture="board",
)
def read_list(text: str, shape: str, blank: str) -> Board:
    rows = [[BLANKS[blank] if sign == "_" else sign for sign in row] for row in text.split("/")]
    return parse_board(rows if shape == "nested" else [*chain.from_iterable(rows)])


@when(parsers.parse('the text "{text}" is read as a board'), target_fixture="board")
def read_text(text: str) -> Board:
    return parse_board(text)


@given("a new board", target_fixture="board")
def new_board() -> Board:
    return Board()


@given("the list", target_fixture="board")
def the_list(docstring: str) -> Board:
    return parse_board([sign.strip('"') for sign in re.findall(r'""|[XO_]', docstring)])


@when(parsers.parse('a board with "{sign}" in the middle is read'), target_fixture="refusal")
def read_sign(sign: str) -> NoughtsError:
    with pytest.raises(NoughtsError) as refused:
        parse_board([["", "", ""], ["", sign, ""], ["", "", ""]])
    return refused.value


@when(
    parsers.parse("a board of {rows:d} rows of {columns:d} blank cells is read"), target_fixture="refusal"
)
def read_size(rows: int, columns: int) -> NoughtsError:
    row = [""] * columns
    with pytest.raises(NoughtsError) as refused:
        parse_board(row if rows == 1 else [row] * rows)
    return refused.value


@when(parsers.parse("X is placed on cell {cell:d} of an empty board"), target_fixture="board")
def place_on_empty(cell: int) -> Board:
    return Board().place(cell, X)


@when(parsers.parse("X is placed on cell {cell:d}"), target_fixture="board")
def place(board: Board, cell: int) -> Board:
    return board.place(cell, X)


@then(parsers.re(r"the board is (?P<text>[XO_/]{11})"))
def board_is(board: Board, text: str) -> None:
    assert str(board) == text


@then(parsers.parse("the board is the one that the moves {moves} lead to"))
def board_after_moves(board: Board, moves: str) -> None:
    played = Board()
    for cell in parse_moves(moves):
        played = played.place(cell)
    assert board == played


@then(parsers.parse('it is refused, and the refusal quotes "{sign}"'))
def refusal_quotes(refusal: NoughtsError, sign: str) -> None:
    assert isinstance(refusal, errors.UnreadableBoard)
    assert repr(sign) in str(refusal)


@then("it is refused because it is not a board")
def refused_as_no_board(refusal: NoughtsError) -> None:
    assert isinstance(refusal, errors.UnreadableBoard)


@then(parsers.parse("row {row:d} and column {column:d} hold X"))
def row_and_column_hold(board: Board, row: int, column: int) -> None:
    assert board.mark_at(x=column, y=row) is X
    assert str(board).split("/")[row][column] == "X"


@then(parsers.parse("cell {cell:d} is the only one that is not blank"))
def only_one_not_blank(board: Board, cell: int) -> None:
    assert [at for at, held in enumerate(board.cells) if held] == [cell]
    assert board.free_cells == tuple(at for at in range(9) if at != cell)


# Who moves


@then(parsers.parse("it is the turn of {mark}"))
def turn_is(board: Board, mark: str) -> None:
    assert board.turn is Mark(mark)


@then(parsers.parse("{mark} may not be placed on any cell"))
def may_not_be_placed(board: Board, mark: str) -> None:
    for cell in range(9):
        with pytest.raises(errors.NotYourTurn):
            board.place(cell, Mark(mark))


@when(parsers.parse("{mark} has moved"), target_fixture="next_player")
def has_moved(mark: str) -> str:
    return str(Mark(mark).other)


@then(parsers.parse("the next player is {mark}"))
def next_player_is(next_player: str, mark: str) -> None:
    assert next_player == mark


# Bots


@given("a clock that takes notes and never waits", target_fixture="env_vars")
def clock(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    found = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    return environment(NOTES=str(tmp_path / "notes"), PYTHONPATH=os.pathsep.join(filter(None, found)))


@then(parsers.parse("it rested {seconds:g} seconds between every two moves"))
def rested(ran: Ran, env_vars: dict[str, str], seconds: float) -> None:
    rests = [float(line) for line in Path(env_vars["NOTES"]).read_text().splitlines()]
    assert rests == [seconds] * (len(_moves(ran)) - 1)


@then(parsers.parse('"{words}" is in the help'))
def is_in_help(ran: Ran, words: str) -> None:
    assert words in " ".join(ran.stdout.split())


@then("every board is shown under the name of the player that moved")
def boards_under_names(ran: Ran) -> None:
    lines = ran.stdout.splitlines()
    names = [at for at, line in enumerate(lines) if re.fullmatch("Player [XO]:", line)]
    assert names[0] == 0
    for at, following in zip(names, [*names[1:], len(lines)], strict=True):
        assert board_texts(lines[at + 1 : at + 6]), "five lines of a board follow the name"
        assert following - at == 6 or lines[at + 6] in RESULTS.values(), "and then the next, or the end"


@then("every board has one token more than the one before, and it is that player's")
def one_token_more(ran: Ran) -> None:
    for game in _games(ran):
        before, expected = "___/___/___", game[0][0]
        for player, board in game:
            changed = [(old, new) for old, new in zip(before, board, strict=True) if old != new]
            assert player == expected
            assert changed == [("_", player)]
            before, expected = board, "O" if player == "X" else "X"


@then("the result is shown under the final board")
def result_under_board(ran: Ran) -> None:
    results = [line for line in ran.stdout.splitlines() if line in RESULTS.values()]
    assert len(results) == len(_games(ran))
    for game, result in zip(_games(ran), results, strict=True):
        boards = [parse_board(board, Mark(game[0][0])) for _, board in game]
        assert [board.is_over for board in boards] == [False] * (len(boards) - 1) + [True]
        picture = NARRATIVE.draw(boards[-1])
        assert RESULTS[game_over(boards[-1])[1]] == result
        assert f"{picture}\n{result}\n" in ran.stdout


@then(parsers.parse("{count:d} games are shown"))
def games_shown(ran: Ran, count: int) -> None:
    assert len(_games(ran)) == count


@then("X starts every game")
def x_starts(ran: Ran) -> None:
    assert {first for (first, _), *_ in _games(ran)} == {"X"}


@when(parsers.parse("{mark} makes {count:d} random moves, each from that board"), target_fixture="after")
def random_moves(board: Board, mark: str, count: int) -> list[Board]:
    rng = Random(2026)
    return [next_move(board, Mark(mark), rng) for _ in range(count)]


@then("every free cell is chosen about equally often")
def chosen_equally(board: Board, after: list[Board]) -> None:
    chosen = Counter(set(board.free_cells).difference(moved.free_cells).pop() for moved in after)
    fair = len(after) / len(board.free_cells)
    assert set(chosen) == set(board.free_cells)
    assert all(0.85 * fair < times < 1.15 * fair for times in chosen.values()), chosen


@then(parsers.parse("X won about {x:g}, O about {o:g} and nobody about {nobody:g} games of 100"))
def won_about(ran: Ran, x: float, o: float, nobody: float) -> None:
    found = Counter(line for line in ran.stdout.splitlines() if line in RESULTS.values())
    for winner, share in zip("XO", (x, o), strict=True):
        assert 100 * found[RESULTS[winner]] / found.total() == pytest.approx(share, abs=4)
    assert 100 * found[RESULTS[""]] / found.total() == pytest.approx(nobody, abs=4)


# The drawing


@then('it is drawn, and "noughts show" draws it, as')
def drawn_as(board: Board, docstring: str) -> None:
    assert NARRATIVE.draw(board) == docstring
    assert noughts("show", str(board)).stdout.startswith(f"{docstring}\n")


@then('each is drawn in five lines, the second and the fourth "-+-+-"')
def five_lines(positions: tuple[Board, ...]) -> None:
    for board in positions:
        lines = NARRATIVE.draw(board).split("\n")
        assert len(lines) == 5
        assert lines[1] == lines[3] == "-+-+-"
        assert all(line.count("|") == 2 for line in lines[::2])


@then("no line of a drawing ends with a space")
def no_trailing_space(positions: tuple[Board, ...]) -> None:
    assert not any(re.search(r"\s$", NARRATIVE.draw(board), re.MULTILINE) for board in positions)


@then("no two drawings are the same")
def drawings_differ(positions: tuple[Board, ...]) -> None:
    assert len({NARRATIVE.draw(board) for board in positions}) == len(positions)


# Who has won


@then(parsers.re(r"(?P<mark>[XO]) has won with cells (?P<cells>[\d, ]+)"))
def has_won(board: Board, mark: str, cells: str) -> None:
    assert game_over(board) == (True, mark)
    assert board.winner is Mark(mark)
    assert board.winning_cells == tuple(map(int, cells.split(", ")))


@then("the game is a draw")
def is_a_draw(board: Board) -> None:
    assert game_over(board) == (True, "")
    assert board.is_draw


@then("the game is not over")
def is_not_over(board: Board) -> None:
    assert game_over(board) == (False, "")


@then("the board is full")
def is_full(board: Board) -> None:
    assert "_" not in str(board)


@then("a mark has won exactly where it holds one of these lines")
def won_exactly(positions: tuple[Board, ...], datatable: list[list[str]]) -> None:
    lines = [[int(cell) for cell in line.split()] for row in datatable for line in row if line]
    assert len(lines) == 8
    for board in positions:
        holders = {mark for mark in Mark for line in lines if all(board.cells[at] is mark for at in line)}
        assert {board.winner} - {None} == holders


@then(parsers.parse("{count:d} of them are draws, and all of these are full and have no line"))
def draws(positions: tuple[Board, ...], count: int) -> None:
    drawn = [board for board in positions if board.is_draw]
    assert len(drawn) == count
    assert not any(board.winner or "_" in str(board) for board in drawn)


# The next move


@given(parsers.parse('the document\'s list "{written}"'), target_fixture="signs")
def document_list(written: str) -> list[str]:
    return written.split(",")


@when(
    parsers.parse("{mark} makes a move from it, and no source of randomness is given"),
    target_fixture="moved",
)
def move_from_list(signs: list[str], mark: str) -> Board:
    return next_move(signs, Mark(mark))


@then(parsers.parse("the new board has one more {mark}, and the list is as it was"))
def one_more(signs: list[str], moved: Board, mark: str) -> None:
    after = str(moved).replace("/", "")
    assert [(old, new) for old, new in zip(signs, after, strict=True) if old != new] == [("_", mark)]
    assert signs == list("X___O____")


@then(parsers.parse("every one of them adds a single {mark} to a free cell"))
def adds_single(board: Board, after: list[Board], mark: str) -> None:
    for moved in after:
        changed = [pair for pair in zip(str(board), str(moved), strict=True) if len(set(pair)) > 1]
        assert changed == [("_", mark)]


@then(parsers.re(r"the board given is still (?P<text>[XO_/]+)"))
def still(board: Board, text: str) -> None:
    assert str(board) == text
    assert board.free_cells == tuple(
        cell for cell, sign in enumerate(text.replace("/", "")) if sign == "_"
    )


@then("whatever it shows of itself cannot be set")
def cannot_be_set(board: Board) -> None:
    shown = [name for name in dir(board) if not name.startswith("_")]
    assert {"x", "o", "cells", "free_cells", "turn", "winner"} <= set(shown)
    for name in shown:
        with pytest.raises(AttributeError):
            setattr(board, name, None)


@then("no random move is made from it for X or O")
def no_random_move(board: Board) -> None:
    for mark in Mark:
        with pytest.raises(errors.GameOver):
            next_move(board, mark, Random(1))


# The result


@then(parsers.re(r'the narrative gives the result of "(?P<winner>[XO]?)" as "(?P<line>[^"]+)"'))
def result_is(winner: str, line: str) -> None:
    assert NARRATIVE.result(winner) == line
    assert NARRATIVE.result(Mark(winner) if winner else None) == line


@then(parsers.parse('the narrative refuses the result of "{winner}"'))
def result_refused(winner: str) -> None:
    with pytest.raises(NoughtsError) as refused:
        NARRATIVE.result(winner)
    assert repr(winner) in str(refused.value)


@then(parsers.parse('its answer to whether the game is over leads to "{line}"'))
def answer_leads_to(board: Board, line: str) -> None:
    is_over, winner = game_over(board)
    assert is_over
    assert NARRATIVE.result(winner) == line


@then(parsers.parse("asked whether the game is over, the library answers {answer}"))
def over_and_winner(board: Board, answer: str) -> None:
    found = game_over(board)
    assert found == ast.literal_eval(answer)
    assert [type(part) for part in found] == [bool, str]


@then(parsers.re(r"asked about it as (?P<form>.+), the library answers (?P<answer>\(.+\))"))
def over_in_any_form(signs: list[str], form: str, answer: str) -> None:
    rows = [signs[:3], signs[3:6], signs[6:]]
    text = "/".join("".join(row) for row in rows)
    forms: dict[str, Board | str | list[str] | list[list[str]]] = {
        "a flat list": signs,
        "a nested list": rows,
        "text": text,
        "a board": parse_board(text),
    }
    assert game_over(forms[form]) == ast.literal_eval(answer)


def _moves(ran: Ran) -> list[tuple[str, str]]:
    """Return who moved and the board that was shown, for every move."""
    lines = ran.stdout.splitlines()
    players = [line.removeprefix("Player ")[0] for line in lines if re.fullmatch("Player [XO]:", line)]
    return list(zip(players, board_texts(lines), strict=True))


def _games(ran: Ran) -> list[list[tuple[str, str]]]:
    """Return the moves of each game: a board with one token starts a new one."""

    def split() -> Iterator[list[tuple[str, str]]]:
        game: list[tuple[str, str]] = []
        for player, board in _moves(ran):
            if game and board.count("_") == 8:
                yield game
                game = []
            game.append((player, board))
        yield game

    return list(split())
