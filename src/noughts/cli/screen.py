"""The screen: lines and boards, in colour, down to twenty columns by five rows.

`LiveScreen` is the other kind: a board that is redrawn in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, TextIO

from noughts.cli.layout import fit, window_size
from noughts.cli.question import Question
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import printable
from noughts.core.events import Event
from noughts.core.game import Game
from noughts.core.value import Value
from noughts.text.describe import describe, shown_name
from noughts.text.speaker import READING_ORDER, CellNames
from noughts.text.wordings import Wording

RESET = "\x1b[0m"
COLOURS = {"X": "\x1b[1;94m", "O": "\x1b[1;33m"}  # blue and orange: safe for colour-blind players
FREE = "\x1b[2m"
WON = "\x1b[7m"  # reversed, to be seen without colours too

_MIN_COLUMNS, _MIN_ROWS = 44, 10  # a refusal of up to three rows, a board of five, a gap and the question


class Display(Value):
    """How a game is shown."""

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
    sleep: Callable[[float], None] = lambda _: None
    numbers: str = READING_ORDER
    """What free cells show, from the top left."""


class Screen:
    """Where a game is shown; this one prints lines."""

    SENTENCES: ClassVar = {
        "help": "prompt.help",
        "help_short": "prompt.help_short",
        "taken": "prompt.taken",
        "not_a_cell": "prompt.not_a_cell",
        "no_move": "prompt.no_move",
        "step": "replay.step",
        "step_short": "replay.step_short",
        "watching": "remote.watching",
    }
    """Where the two kinds of screen speak differently."""
    you: Mark | None = None
    """The mark of the only person who plays here, if there is one."""

    def __init__(self, out: TextIO, display: Display) -> None:
        self.out = out
        self.wording, self.colour, self.spoken = display.wording, display.colour, display.spoken
        self.interactive = display.interactive
        self._display = display

    def close(self) -> Screen:
        """Stop drawing in place, and return the screen that prints what follows."""
        return self

    @property
    def compact(self) -> bool:
        """Whether a board of five lines and a question would not fit; a window can shrink in mid-game."""
        return self._display.cramped()

    @property
    def cell_names(self) -> CellNames:
        """What the coach calls cells: as the board shows them, or numbers if there is none."""
        return "numbers" if self.spoken else self.wording.cells

    @property
    def numbers(self) -> str:
        """What free cells show, from the top left."""
        return self._display.numbers

    def number(self, cell: Cell) -> str:
        """Return the number of a cell, as it is typed."""
        return self.numbers[cell]

    def say(self, line: str) -> None:
        self.out.write(fit(line, self.out) + "\n")

    def say_forfeit(self, line: str) -> None:
        self.say(line)

    def text(self, name: str, **values: object) -> str:
        """Return the sentence that this kind of screen uses for something."""
        return self.wording.say(self.SENTENCES[name], **values)

    def again(self, others: str = "") -> str:
        """Return the question after a game; `others` are the answers besides yes and no."""
        key = "prompt.what_next" if others and not self.compact else "prompt.again"
        return self.wording.say(key, others=others)

    def refusal(self, why: str) -> str:
        """Return how what is not a move is refused."""
        refusal = self.wording.say("prompt.invalid")
        return refusal if self.compact else f"{refusal}\n{why}"

    def say_refusal(self, line: str) -> None:
        self.say(line)

    def say_page(self, text: str) -> None:
        """Show a longer text."""
        self.say(text)

    def say_status(self, text: str) -> None:
        """Say what the game waits for."""
        self.say(text)

    def log(self, events: Iterable[Event]) -> None:
        """Print events, one a line, if they are wanted."""
        if self._display.events:
            for event in events:
                self.say(str(event))

    def flush(self) -> None:
        self.out.flush()

    def ask(self, question: Question, *, below_board: bool = False) -> None:
        """Show a question, and leave the cursor behind it.

        Below a board it follows an empty line, if there is room and a person or the wording wants one.
        """
        is_spaced = self.interactive or self.wording.line_before_question
        if below_board and is_spaced and not self.compact and not self.spoken:
            self.say("")
        self.out.write(question.text + (" " if self.interactive else "\n"))
        self.out.flush()

    def ask_meanwhile(self, question: Question) -> None:
        """Offer what can be done while nothing is asked; lines have no place for it."""

    def end_line(self) -> None:
        """End the line of a question that got no answer."""
        if self.interactive:
            self.out.write("\n")

    def pause(self, seconds: float) -> None:
        """Wait between two moves."""
        self._display.sleep(seconds)

    def think(self, _game: Game) -> None:
        """Show that a bot is about to move."""
        self.flush()

    def name(self, game: Game, mark: Mark) -> str:
        """Return a player's name, safe to print, or the wording's for a player without one."""
        player = game.player(mark)
        return shown_name(player) if player else self.wording.say("game.player", mark=mark)

    def who(self, game: Game, mark: Mark) -> str:
        """Return what to call a player within a sentence."""
        return self.name(game, mark)

    def subject(self, game: Game, mark: Mark) -> str:
        """Return what to call a player at the beginning of a sentence."""
        return self.name(game, mark)

    def move_question(self, game: Game, mark: Mark) -> str:
        question = "game.ask_short" if self.compact else "game.ask"
        return self.wording.say(question, mark=mark, player=self.name(game, mark))

    def show_heading(self, game: Game, ends: Mapping[Mark | None, int]) -> None:
        """Show the score while a game is played, or only who plays; lines have no place for it."""

    def show_score(self, game: Game, ends: Mapping[Mark | None, int]) -> None:
        """Show how many games each has won, and the draws."""
        self.say(self.wording.say("game.score", points=self.points(game, ends)))
        if self.compact:  # five rows hold the result, the board and the next question
            self.show(game)

    def points(self, game: Game, ends: Mapping[Mark | None, int]) -> str:
        """Return how many games each has won, and the draws."""
        x, o = (mark if self.compact else self.name(game, mark) for mark in Mark)
        won = {"x_won": ends[Mark.X], "o_won": ends[Mark.O], "drawn": ends[None]}
        return self.wording.say("game.points", x=x, o=o, **won)

    def show(self, game: Game) -> None:
        """Show the position."""
        for line in self.position(game):
            self.say(line)
        self.out.flush()

    def position(self, game: Game) -> list[str]:
        """Return the drawing and, when the game is over, the result, in the wording's order."""
        lines = [printable(describe(game, self.wording)) if self.spoken else self.drawing(game.board)]
        if game.is_over:
            is_first = self.wording.result_before_board or self.compact
            lines.insert(0 if is_first else 1, self.result(game))
        return lines

    def result(self, game: Game) -> str:
        winner = game.winner
        name = self.name(game, winner) if winner and game.player(winner) else None
        return self.wording.result(winner, name)

    def show_step(self, line: str, game: Game) -> None:
        """Show a position that somebody watches, below the line that says what led to it."""
        if line:
            self.say(line)
        self.show(game)

    def drawing(self, board: Board) -> str:
        """Draw a board as the wording does, or in three short rows where that does not fit."""
        wording = self.wording.replace(blank="", across=" ", between="") if self.compact else self.wording
        return wording.draw(board, self._painter(board))

    def _painter(self, board: Board) -> Callable[[Cell, str], str]:
        won = board.winning_cells

        def paint(cell: Cell, sign: str) -> str:
            if sign in COLOURS:
                style = (WON if cell in won else "") + COLOURS[sign]
            elif sign.isdigit():
                sign, style = self.numbers[cell], FREE
            else:
                return sign
            return f"{style}{sign}{RESET}" if self.colour else sign

        return paint


def is_cramped(out: TextIO) -> bool:
    """Return whether the terminal is too small for a board of five lines and a question."""
    columns, rows = window_size(out) or (_MIN_COLUMNS, _MIN_ROWS)
    return columns < _MIN_COLUMNS or rows < _MIN_ROWS
