"""What is said where things happen unasked: a question gives way to them, and is asked again below."""

from __future__ import annotations

from noughts.cli.screen import Screen
from noughts.core.board import Mark
from noughts.core.game import Game


class Talk:
    """A screen, and the question that stands on it."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.question: str | None = None
        """The question that waits for an answer."""

    def ask(self, question: str | None, *, below_board: bool) -> None:
        """Ask, unless that very question stands on the screen already."""
        if question == self.question:
            return
        self.end_question()
        if question is not None and below_board:
            self.screen.ask_below_board(question)
        elif question is not None:
            self.screen.ask(question)
        self.question = question

    def take_answer(self) -> str | None:
        """Return the question that was answered; whoever answered has ended its line."""
        question, self.question = self.question, None
        return question

    def end_question(self) -> None:
        """Leave the line of a question that got no answer yet."""
        if self.question is not None:
            self.question = None
            self.screen.end_line()

    def say(self, words: str) -> None:
        """Say something."""
        self.end_question()
        self.screen.say(words)

    def show(self, game: Game) -> None:
        """Show the board, and the result if there is one."""
        self.end_question()
        self.screen.show(game)

    def notice(self, words: str, game: Game) -> None:
        """Say what nobody asked for; where there is little room, the board would be out of sight."""
        self.say(words)
        if self.screen.compact:
            self.show(game)

    def reply(self, words: str, game: Game) -> None:
        """Say something in between, and show the board again where that took it from sight."""
        self.say(words)
        if self.screen.compact or (self.screen.interactive and not self.screen.spoken):
            self.show(game)

    def refuse(self, why: str, game: Game) -> None:
        """Answer what is no move."""
        refusal = self.screen.wording.invalid
        self.reply(refusal if self.screen.compact else f"{refusal}\n{sentence(why)}", game)

    def name(self, game: Game, mark: Mark) -> str:
        """Call a player by name."""
        return self.screen.name(game, mark)


def sentence(text: str) -> str:
    """Make a sentence of a refusal."""
    return f"{text[:1].upper()}{text[1:]}."
