"""The wordings of a game, one for each document that gives its lines. A translation is one more value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from noughts.core.board import Cell, Mark
from noughts.core.errors import InvalidArgument, quoted
from noughts.core.notation import AnyBoard, as_board
from noughts.text.catalogue import Catalogue
from noughts.text.picture import draw_board
from noughts.text.speaker import CellNames

Starter: TypeAlias = Literal["X", "O", "random", "loser"]


class Wording(Catalogue):
    """How a game draws a board, who starts, and the sentences that are not those of the catalogue.

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
    result_before_board: bool = False
    """True if the result comes before the final board."""
    line_before_question: bool = False
    """True if a question follows an empty line even when the output is not a terminal."""
    calls_by_name: bool = False
    """True if nobody is called "you"."""
    starter: Starter = "X"

    @property
    def cells(self) -> CellNames:
        """What the coach calls cells: numbers, if the free ones show them."""
        return "places" if self.blank else "numbers"

    def draw(self, board: AnyBoard, paint: Callable[[Cell, str], str] = lambda _, sign: sign) -> str:
        """Draw a board; `paint` can colour the sign of each cell."""
        return draw_board(as_board(board), self.blank, self.across, self.between, paint)

    def result(self, winner: Mark | str | None, name: str | None = None) -> str:
        """Return the sentence for a result: the winner's mark or letter; None or "" is a draw.

        >>> NARRATIVE.result("X")
        'PLAYER X WON!'
        >>> NARRATIVE.result("")
        'THE GAME ENDS WITH A DRAW!'
        """
        match winner:
            case None | str(""):
                return self.say("game.drawn")
            case Mark() | str("X" | "O"):
                return self.say("game.won", player=name or self.say("game.winner", mark=winner))
            case _:
                raise InvalidArgument(f"a winner is X or O, or empty after a draw, not {quoted(winner)}")


NARRATIVE = Wording(
    title="narrative",
    blank=" ",
    across="|",
    between="-+-+-",
    sentences={
        "game.winner": "PLAYER {mark}",
        "game.won": "{player} WON!",
        "game.drawn": "THE GAME ENDS WITH A DRAW!",
    },
)

GEM = Wording(
    title="gem",
    blank="_",
    across=" ",
    between="",
    result_before_board=True,
    line_before_question=True,
    calls_by_name=True,
    starter="random",
    sentences={
        **dict.fromkeys(
            ("game.ask", "live.move"), "{player}: Enter a number between 1 and 9 to make your move"
        ),
        "game.won": "{player} won!",
        "game.drawn": "The game ended in a tie",
        "prompt.invalid": "That is not a move you can make.",
    },
)

KATA = Wording(
    title="kata",
    blank="",
    across="|",
    between="-+-+-",
    sentences={
        "game.ask": "{player}, enter a position from 1 to 9:",
        "game.won": "{player} Won!",
        "game.drawn": "Game is Draw!",
        "prompt.invalid": "Position is Invalid!",
    },
)

WORDINGS = {wording.title: wording for wording in (NARRATIVE, GEM, KATA)}
