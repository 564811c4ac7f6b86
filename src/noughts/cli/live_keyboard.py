"""What keys and clicks mean on a board in place: each becomes the word that a player would type."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TextIO

from noughts.cli.frame import Frame
from noughts.cli.input import KeyReader
from noughts.cli.question import HELP, NO, QUIT, YES, Action, Question
from noughts.cli.settings import GameSettings, change_settings
from noughts.cli.terminal import Keyboard
from noughts.core.board import Cell
from noughts.text.speaker import NUMPAD_ORDER, READING_ORDER

_UP, _DOWN, _RIGHT, _LEFT = "ABCD"
_ARROW = re.compile("\x1b[\\[O](?:1;[0-9])?([ABCD])")
_CLICK = re.compile("\x1b\\[<0;([0-9]{1,5});([0-9]{1,5})M")
_REPORT = re.compile("\x1b\\[(?:<.*|M...|[IO]|20[01]~)", re.DOTALL)
"""What a terminal sends by itself: the mouse, the focus, and the marks around what is pasted."""
_ENTER = "\r", "\n", " "
_YES_OR_NO = YES.key, NO.key, "\x1b"
_REDRAW, _END = "\x0c", "\x04"


class LiveKeyboard(Keyboard):
    """The keys of a game in place, and what the player has reached with them."""

    def __init__(
        self,
        keys: KeyReader,
        out: TextIO,
        settings: GameSettings,
        draw: Callable[[], None],
        notice_for: Callable[[Question], str],
    ) -> None:
        super().__init__(keys, out, full_screen=True)
        self.settings = settings
        self._draw = draw
        self._notice_for = notice_for
        self.notice = ""
        """The answer to a key that could not do anything; the next key removes it."""
        self.terminal = self._terminal
        self.question = self.idle_question = Question("", (HELP, QUIT))
        self.is_answered = False
        """Whether the last question was answered, and nothing was said since then."""
        self.confirming: Action | None = None
        self.cursor: Cell = 4
        self.page: str | None = None
        """The longer text that hides the board."""
        self.page_top = 0
        self.frame: Frame | None = None
        """What is on the screen; None if it must be drawn again."""

    @property
    def numbers(self) -> str:
        """What the digits of the cells are, from the top left."""
        return NUMPAD_ORDER if self.settings.numpad else READING_ORDER

    def next_line(self) -> str:
        self.question = self.idle_question
        self.is_answered = True
        return super().next_line()

    def redraw(self, _question: str) -> None:
        self._draw()

    def refresh(self) -> None:
        self._draw()

    def _on_return(self) -> None:
        self.frame = None

    def _press(self, key: str) -> None:
        if _REPORT.fullmatch(key) and not self._is_move(key):
            return
        self.notice = ""
        if key == _REDRAW:
            self.frame = None
        elif self.page is not None:
            self._turn_page(key)
        elif key == _END:
            self._line = QUIT.word
        elif self.confirming and key.lower() in _YES_OR_NO:
            action, self.confirming = self.confirming, None
            self._line = action.word if key.lower() == YES.key else None
        elif self.confirming:
            self.notice = self._notice_for(self.question)
        elif key == "#" and self.question.wants_cell:
            self.settings = self.settings.replace(numpad=not self.settings.numpad)
            change_settings(numpad=self.settings.numpad)
        else:
            self._choose(key)

    def _choose(self, key: str) -> None:
        """Do what a key means for the present question."""
        question = self.question
        arrow = _ARROW.fullmatch(key)
        action = next((one for one in question.actions if one.key == key.lower()), None)
        if arrow and not question.wants_cell:
            action = next((one for one in question.actions if arrow[1] in one.arrows), None)
        cell = self._cell(key)
        if action and action.confirm:
            self.confirming = action
        elif action:
            self._line = action.word
        elif question.wants_cell and cell is not None:
            self.cursor = cell
            self._line = READING_ORDER[cell]
        elif question.wants_cell and arrow:
            self._move_cursor(arrow[1])
        elif key in _ENTER and question.default:
            self._line = question.default
        else:
            self.notice = self._notice_for(question)

    def _is_move(self, key: str) -> bool:
        """Return whether a click takes a cell; any other is not a key."""
        can_move = self.question.wants_cell and not self.confirming and self.page is None
        return can_move and self._cell(key) is not None

    def _cell(self, key: str) -> Cell | None:
        """Return the cell that a digit, Enter or a click means."""
        if key in _ENTER:
            return self.cursor
        if click := _CLICK.fullmatch(key):
            return self.frame.cell_at(int(click[1]) - 1, int(click[2]) - 1) if self.frame else None
        return self.numbers.index(key) if key in READING_ORDER else None

    def _move_cursor(self, arrow: str) -> None:
        row, column = divmod(self.cursor, 3)
        row = min(max(row + (arrow == _DOWN) - (arrow == _UP), 0), 2)
        column = min(max(column + (arrow == _RIGHT) - (arrow == _LEFT), 0), 2)
        self.cursor = 3 * row + column

    def _turn_page(self, key: str) -> None:
        arrow = _ARROW.fullmatch(key)
        last_top = self.frame.last_top if self.frame else 0
        if arrow and arrow[1] in (_UP, _DOWN):
            step = 1 if arrow[1] == _DOWN else -1
            self.page_top = min(max(self.page_top + step, 0), last_top)
        elif key == " " and self.page_top < last_top:
            self.page_top = min(self.page_top + self.terminal.size[1] - 2, last_top)
        else:
            self.page = None
