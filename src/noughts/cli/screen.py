"""The screen: lines and boards, in colour, down to twenty columns by five rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TextIO

from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import printable
from noughts.core.events import Event
from noughts.core.game import Game
from noughts.core.value import Value
from noughts.text.describe import describe, shown_name
from noughts.text.wordings import Wording

_RESET = "\x1b[0m"
_COLOURS = {"X": "\x1b[1;94m", "O": "\x1b[1;33m"}  # blue and orange: safe for colour-blind players
_FREE = "\x1b[2m"
_WON = "\x1b[7m"  # reversed, to be seen without colours too

_MIN_COLUMNS, _MIN_ROWS = 44, 10  # a refusal of up to three rows, a board of five, a gap and the question


class Screen(Value):
    """Where a game is shown, and how."""

    out: TextIO
    wording: Wording
    colour: bool = False
    spoken: bool = False
    """Whether boards are described in a sentence instead of drawn."""
    cramped: Callable[[], bool] = lambda: False
    """Called each time: a window may be made smaller in mid-game."""
    interactive: bool = False
    """Whether a person sits there, so that a question keeps the cursor on its line."""
    events: bool = False
    """Whether the events of a game are printed too."""

    @property
    def compact(self) -> bool:
        """Whether a board of five lines and a question would not fit."""
        return self.cramped()

    @property
    def coach(self) -> Wording:
        """The wording for the coach; cells are numbers where a position is described, not drawn."""
        return self.wording.replace(blank="") if self.spoken else self.wording

    def say(self, line: str) -> None:
        self.out.write(line + "\n")

    def log(self, events: Iterable[Event]) -> None:
        """Print events, one a line, if they are wanted."""
        if self.events:
            for event in events:
                self.say(str(event))

    def flush(self) -> None:
        self.out.flush()

    def ask(self, question: str, *, below_board: bool = False) -> None:
        """Show a question, and leave the cursor behind it.

        Below a board it follows an empty line, if there is room and a person or the wording wants one.
        """
        is_spaced = self.interactive or self.wording.line_before_question
        if below_board and is_spaced and not self.compact and not self.spoken:
            self.say("")
        self.out.write(question + (" " if self.interactive else "\n"))
        self.out.flush()

    def end_line(self) -> None:
        """End the line of a question that got no answer."""
        if self.interactive:
            self.out.write("\n")

    def name(self, game: Game, mark: Mark) -> str:
        """Return a player's name, safe to print, or the wording's for a player without one."""
        player = game.player(mark)
        return shown_name(player) if player else self.wording.say("game.player", mark=mark)

    def move_question(self, game: Game, mark: Mark) -> str:
        question = "game.ask_short" if self.compact else "game.ask"
        return self.wording.say(question, mark=mark, player=self.name(game, mark))

    def points(self, game: Game, ends: Mapping[Mark | None, int]) -> str:
        """Return how many games each has won, and the draws."""
        x, o = (mark if self.compact else self.name(game, mark) for mark in Mark)
        won = {"x_won": ends[Mark.X], "o_won": ends[Mark.O], "drawn": ends[None]}
        return self.wording.say("game.points", x=x, o=o, **won)

    def show(self, game: Game) -> None:
        """Show the position and, when the game is over, the result, in the wording's order."""
        lines = [printable(describe(game, self.wording)) if self.spoken else self.drawing(game.board)]
        if game.is_over:
            player = game.player(game.winner) if game.winner else None
            result = self.wording.result(game.winner, shown_name(player) if player else None)
            lines.insert(0 if self.wording.result_before_board or self.compact else 1, result)
        for line in lines:
            self.say(line)
        self.out.flush()

    def drawing(self, board: Board) -> str:
        """Draw a board as the wording does, or in three short rows where that does not fit."""
        wording = self.wording.replace(blank="", across=" ", between="") if self.compact else self.wording
        return wording.draw(board, self._painter(board)) if self.colour else wording.draw(board)

    def _painter(self, board: Board) -> Callable[[Cell, str], str]:
        won = board.winning_cells

        def paint(cell: Cell, sign: str) -> str:
            if sign in _COLOURS:
                return f"{_WON if cell in won else ''}{_COLOURS[sign]}{sign}{_RESET}"
            return f"{_FREE}{sign}{_RESET}" if sign.isdigit() else sign

        return paint


def is_cramped(out: TextIO) -> bool:
    """Return whether the terminal is too small for a board of five lines and a question."""
    try:
        size = os.get_terminal_size(out.fileno())
    except (OSError, ValueError):
        return False
    return 0 < size.columns < _MIN_COLUMNS or 0 < size.lines < _MIN_ROWS
