"""Questions to a player, and the replies to what was typed."""

from __future__ import annotations

from typing import Self

from noughts.cli.exit import Terminated
from noughts.cli.input import MAX_LINE_BYTES, LineSource, UnreadableLine
from noughts.cli.question import NO, NO_WORDS, YES, YES_WORDS, Question, read_words
from noughts.cli.screen import Screen
from noughts.core.errors import IllegalMove, NothingToTakeBack, NoughtsError, UnreadableCell
from noughts.core.game import Game


class Quit(Exception):
    """The player typed quit, or input has ended."""


class Prompt:
    """A screen with a question on it; output moves to a line of its own, and the question comes again."""

    def __init__(self, screen: Screen, typed: LineSource) -> None:
        self.screen = screen
        self.typed = typed
        self.question: Question | None = None
        """The question that has no answer yet."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the line of a question that a signal or an error leaves without an answer."""
        if kind and issubclass(kind, Terminated | NoughtsError):
            self.end_question()

    def ask(self, question: Question | None, *, below_board: bool) -> None:
        """Ask, unless that question is on the screen already."""
        if question == self.question:
            self.typed.refresh()
            return
        self.end_question()
        self.question = question  # before it is shown: Ctrl-C may come at once
        if question is not None:
            self.screen.ask(question, below_board=below_board)
            self.typed.redraw(question.text)

    def confirm(self, text: str) -> bool:
        """Ask until the answer is a yes or a no."""
        while True:
            self.ask(Question(text, (YES, NO), default=YES.word), below_board=False)
            try:
                words = self.read_words()
            except UnreadableLine:
                words = "?"
            if words in (*YES_WORDS, *NO_WORDS):
                return words in YES_WORDS
            self.screen.say(self.screen.wording.say("prompt.yes_or_no"))

    def read_words(self) -> str:
        """Wait for an answer; return it in small letters and with single spaces."""
        try:
            line = self.typed.read()
        except UnreadableLine:
            self.take_answer()
            raise
        if line is None:
            self.end_question()
            raise Quit
        question = self.take_answer()
        words = read_words(line, question.actions if question else ())
        if words == "quit":
            raise Quit
        return words

    def take_answer(self) -> Question | None:
        """Return the question that was just answered; the answer has ended its line."""
        question, self.question = self.question, None
        return question

    def end_question(self) -> None:
        """End the line of a question that has no answer."""
        if self.question is not None:
            self.question = None
            self.screen.end_line()

    def say(self, text: str) -> None:
        self.end_question()
        self.screen.say(text)

    def show(self, game: Game) -> None:
        self.end_question()
        self.screen.show(game)

    def notice(self, text: str, game: Game) -> None:
        """Say something unasked; on a small screen, show the board again below it."""
        self.say(text)
        if self.screen.compact:  # five rows hold the result, the board and the next question
            self.show(game)

    def show_page(self, text: str, game: Game) -> None:
        """Show a longer text that was asked for."""
        self.end_question()
        self.screen.say_page(text)
        self._show_again(game)

    def reply(self, text: str, game: Game) -> None:
        """Reply to what was typed, and show the board again if it may have scrolled away."""
        self.say(text)
        self._show_again(game)

    def _show_again(self, game: Game) -> None:
        if self.screen.compact or (self.screen.interactive and not self.screen.spoken):
            self.show(game)

    def refuse(self, why: str, game: Game) -> None:
        """Refuse what is not a move."""
        self.end_question()
        self.screen.say_refusal(self.screen.refusal(sentence(why)))
        self._show_again(game)

    def refuse_taken(self, game: Game) -> None:
        free = ", ".join(map(self.screen.number, game.board.free_cells))
        self.refuse(self.screen.text("taken", cells=free), game)

    def refuse_error(self, error: NoughtsError, game: Game) -> None:
        """Say why what was typed cannot be done."""
        match error:
            case UnreadableLine():
                self.refuse(self.screen.wording.say(error.key, most=MAX_LINE_BYTES), game)
            case UnreadableCell():
                self.refuse(self.screen.text("not_a_cell"), game)
            case IllegalMove():
                self.refuse_taken(game)
            case NothingToTakeBack():
                self.reply(self.screen.wording.say("prompt.nothing_to_take_back"), game)
            case _:
                self.reply(sentence(str(error)), game)


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
