"""Positions as sentences, also for screen readers."""

from __future__ import annotations

from collections.abc import Iterable

from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import printable
from noughts.core.game import Game
from noughts.core.player import Player


def describe(position: Board | Game) -> str:
    """Describe a position in one sentence, with cells 1 to 9.

    >>> from noughts.core.board import Board
    >>> describe(Board())
    'The board is empty; X to move.'
    >>> describe(Board().place(4).place(0))
    'X on 5, O on 1; X to move.'
    """
    game = position if isinstance(position, Game) else Game.at(position)
    held = [
        f"{_who(game, mark)} on {_numbers(cells)}"
        for mark in (game.board.first, game.board.first.other)
        if (cells := [cell for cell, held in enumerate(game.board.cells) if held is mark])
    ]
    return f"{', '.join(held) or 'The board is empty'}; {standing(game)}."


def standing(position: Board | Game) -> str:
    """Describe the state of the game: who won and how, a draw, or who is to move.

    >>> from noughts.core.board import Board
    >>> standing(Board(x=0o007, o=0o030))
    'X won with 1, 2 and 3'
    """
    game = position if isinstance(position, Game) else Game.at(position)
    if game.active:
        return f"{_who(game, game.active)} to move"
    if game.winner is None:
        return "the game is drawn"
    winner = _who(game, game.winner)
    if game.resigned:
        return f"{_who(game, game.resigned)} resigned and {winner} won"
    return f"{winner} won with {_numbers(game.board.winning_cells)}"


def pairing(game: Game) -> str:
    """Say who plays whom, X first; a player without a name is a mark.

    >>> from noughts.core.board import Board, Mark
    >>> from noughts.core.player import Player
    >>> pairing(Game(Board(), players=(Player("ann", Mark.X),)))
    'ann (X) against O'
    """
    return " against ".join(_who(game, mark) for mark in Mark)


def shown_name(player: Player) -> str:
    """Return a name as people read it: of a bot or a program, what it is called and that it is one.

    >>> from noughts.core.board import Mark
    >>> shown_name(Player("ann", Mark.X)), shown_name(Player("bot:perfect", Mark.O))
    ('ann', 'perfect (bot)')
    """
    name = printable(player.name)
    kind, _, called = name.partition(":")
    if kind not in ("bot", "program") or not called:
        return name
    alone = called.removesuffix(f" ({player.mark})")  # added to the names of two equal bots
    return f"{alone} ({kind})" if alone == called else f"{alone} ({kind} {player.mark})"


def _who(game: Game, mark: Mark) -> str:
    player = game.player(mark)
    return f"{shown_name(player)} ({mark})" if player else str(mark)


def _numbers(cells: Iterable[Cell]) -> str:
    *most, last = (str(cell + 1) for cell in cells)
    return f"{', '.join(most)} and {last}" if most else last
