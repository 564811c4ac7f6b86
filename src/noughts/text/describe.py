"""Positions as sentences, also for screen readers."""

from __future__ import annotations

from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.game import Game
from noughts.core.notation import AnyBoard
from noughts.core.player import Player
from noughts.text.catalogue import ENGLISH, Catalogue
from noughts.text.speaker import CellNames, Speaker


def describe(position: AnyBoard | Game, wording: Catalogue = ENGLISH) -> str:
    """Describe a position in one sentence, with cells 1 to 9.

    >>> from noughts.core.board import Board
    >>> describe(Board())
    'The board is empty; X to move.'
    >>> describe(Board().place(4).place(0))
    'X on 5, O on 1; X to move.'
    """
    game = position if isinstance(position, Game) else Game.at(position)
    speaker = Speaker(wording)
    held = [
        wording.say("position.held", player=player_of(game, mark, wording), cells=speaker.all_of(cells))
        for mark in (game.board.first, game.board.first.other)
        if (cells := [cell for cell, held in enumerate(game.board.cells) if held is mark])
    ]
    listed = ", ".join(held) or wording.say("position.empty")
    return wording.say("position.whole", held=listed, standing=standing(game, wording))


def standing(
    position: AnyBoard | Game, wording: Catalogue = ENGLISH, cells: CellNames = "numbers"
) -> str:
    """Describe the state of the game: who won and how, a draw, or who is to move.

    >>> from noughts.core.board import Board
    >>> standing(Board(x=0o007, o=0o030))
    'X won with 1, 2 and 3'
    """
    game = position if isinstance(position, Game) else Game.at(position)
    if game.active:
        return wording.say("position.to_move", player=player_of(game, game.active, wording))
    if game.winner is None:
        return wording.say("position.drawn")
    player = player_of(game, game.winner, wording)
    if game.resigned:
        loser = player_of(game, game.resigned, wording)
        return wording.say("position.resigned", loser=loser, player=player)
    line = Speaker(wording, cells).all_of(game.board.winning_cells)
    return wording.say("position.won", player=player, cells=line)


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


def player_of(game: Game, mark: Mark, wording: Catalogue = ENGLISH) -> str:
    """Return a player's name and mark, or only the mark."""
    player = game.player(mark)
    return wording.say("position.player", name=shown_name(player), mark=mark) if player else str(mark)
