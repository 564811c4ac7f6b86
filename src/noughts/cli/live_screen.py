"""A board that is redrawn in place, beside what is said and the keys that work now."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import ClassVar, TextIO

from noughts.bots.registry import level_of
from noughts.cli.frame import ASCII, UNICODE, View, lay_out, lay_out_page, plan
from noughts.cli.input import KeyReader
from noughts.cli.live_keyboard import LiveKeyboard
from noughts.cli.prompt import sentence
from noughts.cli.question import NO, YES, Question
from noughts.cli.screen import Display, Screen
from noughts.cli.settings import GameSettings
from noughts.core.board import Board, Mark
from noughts.core.game import Game
from noughts.text.columns import shorten
from noughts.text.speaker import CellNames

MAX_SHORT_NAME_COLUMNS = 14

_HOME, _TO_LINE_END, _TO_SCREEN_END = "\x1b[H", "\x1b[K", "\x1b[J"
_MOUSE_ON, _MOUSE_OFF = "\x1b[?1000h", "\x1b[?1000l"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class LiveScreen(Screen):
    """The screen of a game in place."""

    SENTENCES: ClassVar = {
        "help": "live.help",
        "help_short": "live.help",
        "taken": "live.taken",
        "not_a_cell": "live.not_a_cell",
        "no_move": "live.no_move",
        "step": "replay.step_short",
        "step_short": "replay.step_short",
        "watching": "live.watching",
    }

    def __init__(self, out: TextIO, display: Display, keys: KeyReader, settings: GameSettings) -> None:
        super().__init__(out, display)
        self.keyboard = LiveKeyboard(keys, out, settings, self.flush, self.notice_for)
        self._terminal = self.keyboard.terminal
        self._glyphs = UNICODE if "utf" in (out.encoding or "").lower() else ASCII
        self._game = Game(Board())
        self._score = ""
        self._status = ""
        self._waiting = ""
        """What the game waits for, until something is asked or happens."""
        self._messages: list[str] = []
        self._seen_messages = 0
        self._drawn_numbers = self.numbers
        self._window = self._terminal.size

    def open(self) -> None:
        self._terminal.__enter__()

    def give_back(self) -> None:
        """Give the terminal back without another word."""
        self._terminal.__exit__()

    def close(self) -> Screen:
        """Give the terminal back, and print the last position and, after a game, what was said of it."""
        self.give_back()
        lines = Screen(self.out, self._display)
        for line in (*self.position(self._game), *(self._messages if self._game.is_over else ())):
            lines.say(line)
        return lines

    # What a game shows

    @property
    def compact(self) -> bool:
        return plan(*self._terminal.size).is_short

    def say(self, line: str) -> None:
        if self.keyboard.is_answered:  # a new reply takes the place of the last one
            self.keyboard.is_answered = False
            self._messages.clear()
            self._seen_messages = 0
        self._messages.append(line)

    def again(self, _others: str = "") -> str:
        return self.wording.say("live.again")

    def say_refusal(self, line: str) -> None:
        self.keyboard.notice = line

    def notice_for(self, question: Question) -> str:
        """Return the answer to a key that means nothing."""
        if question.wants_cell and not self.keyboard.confirming:
            return self.refusal(sentence(self.text("not_a_cell")))
        return self.wording.say("live.no_key")

    def say_page(self, text: str) -> None:
        self.keyboard.page, self.keyboard.page_top = text, 0

    def say_status(self, text: str) -> None:
        self._waiting = text
        self.flush()

    def show(self, game: Game, led_to_it: str = "") -> None:
        """Show a position, and who wins; what led to it is said above the result."""
        if game == self._game:
            return
        del self._messages[: self._seen_messages]  # they were about another position
        if game.board.is_over:
            self._messages.clear()  # the last move can be seen
        self._seen_messages = 0
        self.keyboard.notice = ""
        self._game = game
        result = self.result(game) if game.is_over else ""
        self._status = "\n".join(line for line in (led_to_it, result) if line)
        self._waiting = ""
        if game.winner and self._is_you(game.winner) and not game.player(game.winner):
            self.say(self.wording.say("live.you_won"))
        self.flush()

    def show_score(self, game: Game, ends: Mapping[Mark | None, int]) -> None:
        self.show_heading(game, ends)
        self.flush()

    def show_heading(self, game: Game, ends: Mapping[Mark | None, int]) -> None:
        x, o = (shorten(self.who(game, mark), MAX_SHORT_NAME_COLUMNS) for mark in Mark)
        won = {"x_won": ends.get(Mark.X), "o_won": ends.get(Mark.O), "drawn": ends.get(None)}
        key = "live.points_drawn" if ends.get(None) else "live.points" if ends else "live.players"
        self._score = self.wording.say(key, x=x, o=o, **won)

    def think(self, game: Game) -> None:
        if game.active:
            self.say_status(self.wording.say("live.thinking", player=self.name(game, game.active)))
            self.pause(self.keyboard.settings.pause_seconds)

    def ask(self, question: Question, *, below_board: bool = False) -> None:  # noqa: ARG002 - for lines
        self.keyboard.question = question
        self._waiting = ""
        self.flush()

    def ask_meanwhile(self, question: Question) -> None:
        self.keyboard.idle_question = self.keyboard.question = question

    def end_line(self) -> None:
        self.keyboard.question = self.keyboard.idle_question

    def move_question(self, game: Game, mark: Mark) -> str:
        key = "live.your_move" if self._is_you(mark) else "live.move"
        return self.wording.say(key, player=self.name(game, mark))

    def pause(self, seconds: float) -> None:
        """Wait, until a key that means something is pressed."""
        end, left = monotonic() + seconds, seconds
        while not self.keyboard and left >= 0:  # a pause of 0 seconds reads the keys, too
            self.keyboard.wait(left)
            left = end - monotonic()

    def show_step(self, line: str, game: Game) -> None:
        if game.resigned:
            self.say(line)
            line = ""
        elif not line:
            line = self.wording.say("game.starts", player=self.name(game, game.board.first))
        self.show(game, line)

    def name(self, game: Game, mark: Mark) -> str:
        """Return a player's name; a bot's is that of its level."""
        player = game.player(mark)
        level = level_of(player.name) if player else None
        name = level or super().name(game, mark)
        return shorten(name, MAX_SHORT_NAME_COLUMNS) if self.compact else name

    def subject(self, game: Game, mark: Mark) -> str:
        name = self.name(game, mark)
        return self.wording.say("live.you_first", player=name) if self._is_you(mark) else name

    def who(self, game: Game, mark: Mark) -> str:
        name = self.name(game, mark)
        return self.wording.say("live.you", player=name) if self._is_you(mark) else name

    def _is_you(self, mark: Mark) -> bool:
        return mark is self.you and not self.wording.calls_by_name

    # What is drawn

    @property
    def cell_names(self) -> CellNames:
        names = super().cell_names
        return "numpad" if names == "numbers" and self.keyboard.settings.numpad else names

    @property
    def numbers(self) -> str:
        return self.keyboard.numbers

    def flush(self) -> None:
        """Draw what has changed since the last time, or everything if the window has."""
        if self.numbers != self._drawn_numbers:
            self._drawn_numbers = self.numbers
            self._messages.clear()  # they call the cells by their old numbers
        window = columns, rows = self._terminal.size
        page, say = self.keyboard.page, self.wording.say
        if page is not None:
            footers = say("live.page"), say("live.page_more"), say("live.page_more_short")
            frame = lay_out_page(page, self.keyboard.page_top, columns, rows, footers)
        else:
            frame = lay_out(self._view(), columns, rows, self._glyphs, colour=self.colour)
        self._seen_messages = len(self._messages)
        if (window, frame) == (self._window, self.keyboard.frame):
            return
        self._window, self.keyboard.frame = window, frame
        mouse = _MOUSE_OFF if page is not None else _MOUSE_ON  # a page can be copied from
        text = f"{_TO_LINE_END}\n".join(frame.rows) + _TO_LINE_END + _TO_SCREEN_END
        if frame.cursor:
            column, row = frame.cursor
            text += f"\x1b[{row + 1};{column + 1}H{_SHOW_CURSOR}"
        self.out.write(f"{_HIDE_CURSOR}{mouse}{_HOME}{text}")
        self.out.flush()

    def _view(self) -> View:
        game, question, confirming = self._game, self.keyboard.question, self.keyboard.confirming
        asked = self.wording.say(confirming.confirm) if confirming else question.text
        status = self._waiting or self._status or ("" if game.is_over else question.text)
        return View(
            game.board,
            self.wording.blank * 9 or self.numbers,
            last=game.moves[-1] if game.moves else None,
            cursor=self.keyboard.cursor if question.wants_cell else None,
            score=self._score,
            status=status,
            messages=tuple(self._messages),
            notice=self.keyboard.notice,
            question=asked if asked != status else "",
            keys=self._keys(),
            is_over=game.is_over,
        )

    def _keys(self) -> tuple[str, ...]:
        """Return what can be pressed now."""
        say, question, is_confirming = self.wording.say, self.keyboard.question, self.keyboard.confirming
        actions = (YES, NO) if is_confirming else question.actions
        numbers = "key.row_by_row" if self.keyboard.settings.numpad else "key.numpad"
        moves = ("key.cells", numbers) if question.wants_cell and not is_confirming else ()
        keys = {one.key: say(one.label) for one in actions}
        enter = [one.key for one in actions if one.word == question.default][:1]
        return (
            *map(say, moves),
            *(f"{say('key.enter') if [key] == enter else key} {label}" for key, label in keys.items()),
        )
