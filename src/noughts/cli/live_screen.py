"""A board that is redrawn in place, and played with arrows, digits, the mouse and single keys.

It stands in for both the `Screen` that prints lines and the `LineBuffer` that reads them: a key becomes
the word that a player would type.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Mapping
from typing import ClassVar, TextIO

from noughts.bots.registry import level_of
from noughts.cli.frame import ASCII, UNICODE, Frame, View, is_short, lay_out, lay_out_page
from noughts.cli.question import HELP, NO, QUIT, YES, Action, Question
from noughts.cli.screen import Display, Screen
from noughts.cli.settings import GameSettings, change_settings
from noughts.cli.signals import Poller
from noughts.cli.terminal import KeyTerminal
from noughts.core.board import Board, Cell, Mark
from noughts.core.game import Game
from noughts.text.columns import shorten
from noughts.text.speaker import NUMPAD_ORDER, READING_ORDER, CellNames

MAX_SCORE_NAME_COLUMNS = 14

_UP, _DOWN, _RIGHT, _LEFT = "ABCD"
_ARROW = re.compile("\x1b[\\[O](?:1;[0-9])?([ABCD])")
_CLICK = re.compile("\x1b\\[<0;([0-9]{1,5});([0-9]{1,5})M")
_ENTER = "\r", "\n", " "
_REDRAW, _END = "\x0c", "\x04"
_HOME, _TO_LINE_END, _TO_SCREEN_END = "\x1b[H", "\x1b[K", "\x1b[J"
_MOUSE_ON, _MOUSE_OFF = "\x1b[?1000h", "\x1b[?1000l"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class LiveScreen(Screen):
    """The screen and the keyboard of a game in place; closed, it prints lines."""

    SENTENCES: ClassVar = {
        "help": "live.help",
        "taken": "live.taken",
        "no_token": "live.no_token",
        "step": "replay.step_short",
        "step_short": "replay.step_short",
        "watching": "live.watching",
    }

    def __init__(
        self, out: TextIO, display: Display, source: int, poller: Poller, settings: GameSettings
    ) -> None:
        super().__init__(out, display)
        self._poller = poller
        self._settings = settings
        self._terminal = KeyTerminal(
            source, self.out.fileno(), poller, full_screen=True, on_return=self._forget_frame
        )
        self._glyphs = UNICODE if "utf" in (self.out.encoding or "").lower() else ASCII
        self._is_open = False
        self._game = Game(Board())
        self._score = ""
        self._status = ""
        self._messages: list[str] = []
        self._seen_messages = 0
        self._is_answered = False
        self._question = self._idle_question = Question("", (HELP, QUIT))
        self._confirming: Action | None = None
        self._cursor: Cell = 4
        self._page: str | None = None
        self._page_top = self._last_top = 0
        self._words: deque[str] = deque()
        self._frame = Frame(())
        self._drawn = ""
        self.has_ended = False

    def open(self) -> None:
        self._is_open = True
        self._terminal.__enter__()

    def close(self) -> None:
        """Give the terminal back, and leave the last position and the latest messages on it."""
        if not self._is_open:
            return
        self.give_back()
        super().show(self._game)
        for message in self._messages:
            super().say(message)

    def give_back(self) -> None:
        """Give the terminal back without another word."""
        self._is_open = False
        self._terminal.__exit__()

    def _forget_frame(self) -> None:
        self._drawn = ""

    # What a game shows

    @property
    def compact(self) -> bool:
        return is_short(*self._terminal.size) if self._is_open else super().compact

    def say(self, line: str) -> None:
        if not self._is_open:
            super().say(line)
            return
        if self._is_answered:  # a new reply takes the place of the last one
            self._is_answered = False
            self._messages.clear()
            self._seen_messages = 0
        self._messages.append(line)

    def again(self, others: str = "") -> str:
        return self.wording.say("live.again") if self._is_open else super().again(others)

    def refusal(self, why: str) -> str:
        return why if self._is_open else super().refusal(why)

    def say_start(self, line: str) -> None:
        if not self._is_open:  # otherwise the status says it
            super().say_start(line)

    def say_page(self, text: str) -> None:
        if self._is_open:
            self._page, self._page_top = text, 0
        else:
            super().say_page(text)

    def say_status(self, text: str) -> None:
        if self._is_open:
            self._status = text
            self.flush()
        else:
            super().say_status(text)

    def show(self, game: Game) -> None:
        if not self._is_open:
            super().show(game)
            return
        if game != self._game:
            del self._messages[: self._seen_messages]  # they were about another position
            self._seen_messages = 0
            self._game = game
            self._status = self._result(game) if game.is_over else ""
        self.flush()

    def show_score(self, game: Game, ends: Mapping[Mark | None, int]) -> None:
        if self._is_open:
            self.show_heading(game, ends)
            self.flush()
        else:
            super().show_score(game, ends)

    def show_heading(self, game: Game, ends: Mapping[Mark | None, int]) -> None:
        x, o = (shorten(self.who(game, mark), MAX_SCORE_NAME_COLUMNS) for mark in Mark)
        won = {"x_won": ends[Mark.X], "o_won": ends[Mark.O], "drawn": ends[None]}
        key = "live.points_drawn" if ends[None] else "live.points"
        self._score = self.wording.say(key, x=x, o=o, **won)

    def think(self, game: Game) -> None:
        if self._is_open and game.active:
            self.say_status(self.wording.say("live.thinking", player=self.name(game, game.active)))
            self.pause(self._settings.pause_seconds)

    def ask(self, question: Question, *, below_board: bool = False) -> None:
        if not self._is_open:
            super().ask(question, below_board=below_board)
            return
        self._question = question
        self._status = self._status if self._game.is_over else ""
        self.flush()

    def ask_meanwhile(self, question: Question) -> None:
        self._idle_question = self._question = question

    def end_line(self) -> None:
        if self._is_open:
            self._question = self._idle_question
        else:
            super().end_line()

    def move_question(self, game: Game, mark: Mark) -> str:
        if not self._is_open:
            return super().move_question(game, mark)
        if mark is self.you:
            return self.wording.say("live.your_move")
        return self.wording.say("live.move", player=self.name(game, mark))

    def pause(self, seconds: float) -> None:
        """Wait, until a key that means something is pressed."""
        if not self._is_open:
            super().pause(seconds)
            return
        end = time.monotonic() + seconds
        self.flush()
        while not self and (left := end - time.monotonic()) > 0:
            if self._terminal.source in self._poller.wait(self.sources, left):
                self.feed()
            self.flush()

    def show_step(self, line: str, game: Game) -> None:
        if not self._is_open:
            super().show_step(line, game)
            return
        self.show(game)
        if not game.is_over:
            step = {"number": len(game.moves), "player": line.removesuffix(":")}
            self._status = self.wording.say("live.step", **step) if line else ""
            self.flush()

    def name(self, game: Game, mark: Mark) -> str:
        """Return a player's name; a bot's is that of its level."""
        player = game.player(mark)
        level = level_of(player.name) if player else None
        return level or super().name(game, mark)

    def subject(self, game: Game, mark: Mark) -> str:
        return self.wording.say("live.you_first") if mark is self.you else self.name(game, mark)

    def who(self, game: Game, mark: Mark) -> str:
        return self.wording.say("live.you") if mark is self.you else self.name(game, mark)

    def _result(self, game: Game) -> str:
        if game.winner is None:
            return self.wording.say("live.drawn")
        if game.winner is self.you:
            return self.wording.say("live.you_won")
        return self.wording.say("live.won", player=self.name(game, game.winner))

    # What a player presses

    @property
    def sources(self) -> list[int]:
        return [] if self.has_ended else [self._terminal.source]

    def feed(self) -> None:
        for key in self._terminal.read():
            self._press(key)
        self.has_ended |= self._terminal.has_ended

    def __bool__(self) -> bool:
        return bool(self._words)

    def next_line(self) -> str:
        self._question = self._idle_question
        self._is_answered = True
        return self._words.popleft()

    def read(self) -> str | None:
        """Wait for a word; None if the terminal is gone."""
        self.flush()
        while not self and not self.has_ended:
            if self._terminal.source in self._poller.wait(self.sources):
                self.feed()
            self.flush()
        return self.next_line() if self else None

    def redraw(self, _question: str) -> None:
        self.flush()

    def refresh(self) -> None:
        self.flush()

    def _press(self, key: str) -> None:
        if key == _REDRAW:
            self._forget_frame()
        elif self._page is not None:
            self._turn_page(key)
        elif self._confirming:
            action, self._confirming = self._confirming, None
            if key in ("y", "Y"):
                self._words.append(action.word)
        elif key == _END:
            self._words.append(QUIT.word)
        elif key == "#":
            self._settings = self._settings.replace(numpad=not self._settings.numpad)
            change_settings(numpad=self._settings.numpad)
        else:
            self._choose(key)

    def _choose(self, key: str) -> None:
        """Do what a key means for the present question."""
        question = self._question
        arrow = _ARROW.fullmatch(key)
        action = next((one for one in question.actions if one.key == key.lower()), None)
        if arrow and not question.wants_cell:
            action = next((one for one in question.actions if arrow[1] in one.arrows), None)
        cell = self._cell(key)
        if action and action.confirm:
            self._confirming = action
        elif action:
            self._words.append(action.word)
        elif question.wants_cell and cell is not None:
            self._cursor = cell
            self._words.append(READING_ORDER[cell])
        elif question.wants_cell and arrow:
            self._move_cursor(arrow[1])
        elif key in _ENTER and question.default:
            self._words.append(question.default)

    def _cell(self, key: str) -> Cell | None:
        """Return the cell that a digit, Enter or a click means."""
        if key in _ENTER:
            return self._cursor
        if click := _CLICK.fullmatch(key):
            return self._frame.cell_at(int(click[1]) - 1, int(click[2]) - 1)
        return self._numbers.index(key) if key in READING_ORDER else None

    def _move_cursor(self, arrow: str) -> None:
        row, column = divmod(self._cursor, 3)
        row = min(max(row + (arrow == _DOWN) - (arrow == _UP), 0), 2)
        column = min(max(column + (arrow == _RIGHT) - (arrow == _LEFT), 0), 2)
        self._cursor = 3 * row + column

    def _turn_page(self, key: str) -> None:
        arrow = _ARROW.fullmatch(key)
        if arrow and arrow[1] in (_UP, _DOWN):
            step = 1 if arrow[1] == _DOWN else -1
            self._page_top = min(max(self._page_top + step, 0), self._last_top)
        elif key == " " and self._page_top < self._last_top:
            self._page_top = min(self._page_top + self._terminal.size[1] - 2, self._last_top)
        else:
            self._page = None

    # What is drawn

    @property
    def cell_names(self) -> CellNames:
        return "numpad" if self._settings.numpad else "numbers"

    def number(self, cell: Cell) -> str:
        return self._numbers[cell]

    @property
    def _numbers(self) -> str:
        return NUMPAD_ORDER if self._settings.numpad else READING_ORDER

    def flush(self) -> None:
        """Draw what has changed since the last time, or everything if the window has."""
        if not self._is_open:
            super().flush()
            return
        columns, rows = self._terminal.size
        self._seen_messages = len(self._messages)
        if self._page is not None:
            say = self.wording.say
            self._frame, self._last_top = lay_out_page(
                self._page, self._page_top, columns, rows, (say("live.page"), say("live.page_more"))
            )
        else:
            self._frame = lay_out(self._view(), columns, rows, self._glyphs, colour=self.colour)
        mouse = _MOUSE_OFF if self._page is not None else _MOUSE_ON  # a page can be copied from
        text = mouse + _HOME + f"{_TO_LINE_END}\n".join(self._frame.rows) + _TO_LINE_END + _TO_SCREEN_END
        if self._frame.cursor:
            column, row = self._frame.cursor
            text += f"\x1b[{row + 1};{column + 1}H{_SHOW_CURSOR}"
        if (drawn := f"{columns} {rows} {text}") != self._drawn:
            self._drawn = drawn
            self.out.write(f"{_HIDE_CURSOR}{text}")
            self.out.flush()

    def _view(self) -> View:
        game, question = self._game, self._question
        asked = self.wording.say(self._confirming.confirm) if self._confirming else question.text
        status = self._status or ("" if game.is_over or self._confirming else asked)
        return View(
            game.board,
            self._numbers,
            last=game.moves[-1] if game.moves else None,
            cursor=self._cursor if question.wants_cell else None,
            score=self._score,
            status=status,
            messages=tuple(self._messages),
            question=asked if asked != status else "",
            keys=self._keys(question),
            is_over=game.is_over,
        )

    def _keys(self, question: Question) -> tuple[str, ...]:
        say = self.wording.say
        actions = (YES, NO) if self._confirming else question.actions
        moves = ("key.cells",) if question.wants_cell and not self._confirming else ()
        keys = {one.key: say(one.label) for one in actions}
        enter = [one.key for one in actions if one.word == question.default][:1]
        return (
            *map(say, moves),
            *(f"{say('key.enter') if [key] == enter else key} {label}" for key, label in keys.items()),
        )
