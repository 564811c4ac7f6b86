"""The wordings of a game, one for each document that gives its lines. A translation is one more value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import NotationError, quoted
from noughts.core.value import Value
from noughts.text.picture import draw_board

Starter: TypeAlias = Literal["X", "O", "random", "loser"]


class Wording(Value):
    """The sentences of a game, how it draws a board, and who starts.

    >>> from noughts.core.board import Board
    >>> print(KATA.draw(Board().place(4)))
    1|2|3
    -+-+-
    4|X|6
    -+-+-
    7|8|9
    """

    title: str
    blank: str
    """What a free cell shows; its number if empty."""
    across: str
    """The text between the cells of a row."""
    between: str
    """The line between two rows, if any."""
    ask: str
    invalid: str
    won: str
    drawn: str
    winner: str = "Player {mark}"
    """A winner without a name, in `won`."""
    result_before_board: bool = False
    """True if the result comes before the final board."""
    line_before_question: bool = False
    """True if a question follows an empty line even when the output is not a terminal."""
    starter: Starter = "loser"
    """Who starts; with "loser", X starts the first game."""
    player: str = "Player {mark}"
    """A player without a name, everywhere else."""
    moves: str = "{player}:"
    random_starter: str = "{player} has randomly been selected as the first player"
    starts: str = "{player} starts."
    resigned: str = "{player} resigned."
    took_back: str = "{player} took back."
    takes: str = "{player} takes {cell}."
    """The move of a bot."""

    def draw(self, board: Board, paint: Callable[[Cell, str], str] = lambda _, sign: sign) -> str:
        """Draw a board; `paint` can colour the sign of each cell."""
        return draw_board(board, self.blank, self.across, self.between, paint)

    def result(self, winner: Mark | str | None, name: str | None = None) -> str:
        """Return the sentence for a result: the winner's mark or letter; None or "" is a draw.

        >>> NARRATIVE.result("X")
        'PLAYER X WON!'
        >>> NARRATIVE.result("")
        'THE GAME ENDS WITH A DRAW!'
        """
        match winner:
            case None | str(""):
                return self.drawn
            case Mark() | str("X" | "O"):
                return self.won.format(player=name or self.winner.format(mark=winner))
            case _:
                raise NotationError(f"a winner is X or O, or empty after a draw, not {quoted(winner)}")


NARRATIVE = Wording(
    title="narrative",
    blank=" ",
    across="|",
    between="-+-+-",
    ask="{player}, choose a free cell, 1 to 9:",
    invalid="That is not a move.",
    won="{player} WON!",
    drawn="THE GAME ENDS WITH A DRAW!",
    winner="PLAYER {mark}",
)

GEM = Wording(
    title="gem",
    blank="_",
    across=" ",
    between="",
    ask="{player}: Enter a number between 1 and 9 to make your move",
    invalid="That is not a move you can make.",
    won="{player} won!",
    drawn="The game ended in a tie",
    result_before_board=True,
    line_before_question=True,
    starter="random",
)

KATA = Wording(
    title="kata",
    blank="",
    across="|",
    between="-+-+-",
    ask="{player}, enter a position from 1 to 9:",
    invalid="Position is Invalid!",
    won="{player} Won!",
    drawn="Game is Draw!",
    starter="X",
)

WORDINGS = {wording.title: wording for wording in (NARRATIVE, GEM, KATA)}
