"""The game at one keyboard, compared with a model that shares no code with it."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from support.length import short_or_long
from support.pseudo_terminal import Session, between_pipes

AGAIN = "Play again? (y/n)"
QUESTION = r"(?:1 to 9:|make your move|\(y/n\))\n"

LINES = ["123", "456", "789", "147", "258", "369", "159", "357"]
NONSENSE = [
    "0",
    "10",
    "-1",
    "5 5",
    "a1",
    "0,2",
    "",
    "y",
    "x",
    "{0}",
    "\x1b[2J",
    "\u202e5",
    "\uff15",
    "9" * 2000,
]


class WordingFormat(NamedTuple):
    """How one wording presents a game."""

    option: str
    blank: str
    across: str
    between: list[str]
    ask: str
    invalid: str
    nameless: str
    """What a winner without a name is called."""
    won: str
    drawn: str
    result_first: bool = False
    line_before_question: bool = False
    starter: str = "X"


WORDINGS = [
    WordingFormat(
        "narrative",
        " ",
        "|",
        ["-+-+-"],
        "{}, choose a free cell, 1 to 9:",
        "That is not a move.",
        "PLAYER {}",
        "{} WON!",
        "THE GAME ENDS WITH A DRAW!",
    ),
    WordingFormat(
        "gem",
        "_",
        " ",
        [],
        "{}: Enter a number between 1 and 9 to make your move",
        "That is not a move you can make.",
        "Player {}",
        "{} won!",
        "The game ended in a tie",
        result_first=True,
        line_before_question=True,
        starter="random",
    ),
    WordingFormat(
        "kata",
        "",
        "|",
        ["-+-+-"],
        "{}, enter a position from 1 to 9:",
        "Position is Invalid!",
        "Player {}",
        "{} Won!",
        "Game is Draw!",
    ),
]


class Model:
    """The state of the game, and what the screen must show; cells are 1 to 9."""

    def __init__(self, wording: WordingFormat, names: dict[str, str], rule: str = "") -> None:
        self.wording = wording
        self.names = names
        self.rule = rule or wording.starter
        self.first = self.rule if self.rule in ("X", "O") else "X"
        self.placed: list[int] = []
        self.resigned = False
        self.score = {"X": 0, "O": 0, "nobody": 0}

    def turn(self) -> str:
        """Return the mark to move."""
        other = "O" if self.first == "X" else "X"
        return [self.first, other][len(self.placed) % 2]

    def free(self) -> list[int]:
        """Return the free cells."""
        return [cell for cell in range(1, 10) if cell not in self.placed]

    def winner(self) -> str:
        """Return the mark that has won, "nobody" after a draw, or "" before the end."""
        last = "O" if self.turn() == "X" else "X"
        if self.resigned or any(set(line) <= self._held_by_last() for line in LINES):
            return last
        return "" if self.free() else "nobody"

    def next_game(self) -> None:
        """Clear the board; the same mark starts, or the loser (after a draw, the other one)."""
        winner = self.winner()
        if self.rule == "loser":
            self.first = {"X": "O", "O": "X"}[self.first if winner == "nobody" else winner]
        self.placed, self.resigned = [], False

    def position(self) -> list[str]:
        """Return the board, the result if there is one, and the question that follows."""
        winner = self.winner()
        if not winner:
            return [*self.board(), *self.question()]
        self.score[winner] += 1
        result = [
            self.wording.drawn
            if winner == "nobody"
            else self.wording.won.format(self.winner_name(winner))
        ]
        shown = [*result, *self.board()] if self.wording.result_first else [*self.board(), *result]
        return [*shown, self.score_line(), AGAIN]

    def board(self) -> list[str]:
        """Draw the board."""
        signs = [self.wording.blank or str(cell) for cell in range(1, 10)]
        for number, cell in enumerate(self.placed):
            signs[cell - 1] = self.first if number % 2 == 0 else {"X": "O", "O": "X"}[self.first]
        rows = [self.wording.across.join(signs[row : row + 3]).rstrip() for row in (0, 3, 6)]
        return [rows[0], *self.wording.between, rows[1], *self.wording.between, rows[2]]

    def question(self) -> list[str]:
        """Return the question to the player to move, after an empty line if the wording has one."""
        gap = [""] if self.wording.line_before_question else []
        return [*gap, self.wording.ask.format(self.name(self.turn()))]

    def score_line(self) -> str:
        """Return the running score."""
        x, o = (f"{self.name(mark)} {self.score[mark]}" for mark in "XO")
        return f"Score: {x}, {o}, draws {self.score['nobody']}"

    def name(self, mark: str) -> str:
        """Return the name of a player."""
        return self.names.get(mark, f"Player {mark}")

    def winner_name(self, mark: str) -> str:
        """Return the name of a winner."""
        return self.names.get(mark, self.wording.nameless.format(mark))

    def _held_by_last(self) -> set[str]:
        return {str(cell) for cell in self.placed[::-2]}


class Keyboard(RuleBasedStateMachine):
    """A user of the real command, who knows what output to expect."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.session: Session | None = None
        self.model = Model(WORDINGS[0], {})
        self.phase = "away"
        self.typed = 0

    def teardown(self) -> None:
        """End the command in any state."""
        self.opened.close()

    def answer(self, line: str) -> list[str]:
        """Type a line; return the lines up to the next question."""
        assert self.session is not None
        self.typed += 1
        self.session.type(f"{line}\n")
        return self.session.read_until(QUESTION).splitlines()

    def place_token(self, cell: int) -> None:
        """Type a free cell, and check the reply."""
        answer = self.answer(str(cell))
        self.model.placed.append(cell)
        self.check_position(answer)

    def check_position(self, lines: list[str]) -> None:
        """Check that a position is shown correctly, and note the question."""
        assert lines == self.model.position()
        self.phase = "again" if lines[-1] == AGAIN else "move"

    @initialize(
        wording=st.sampled_from(WORDINGS),
        x=st.sampled_from(["", "Ann", "Zo\u00eb"]),
        o=st.sampled_from(["", "Bob"]),
        first=st.sampled_from(["", "X", "O", "random", "loser"]),
    )
    def start(self, wording: WordingFormat, x: str, o: str, first: str) -> None:
        """Start the first game."""
        names = {mark: name for mark, name in (("X", x), ("O", o)) if name}
        options = [f"--{mark.lower()}={name}" for mark, name in names.items()]
        if first:
            options.append(f"--first={first}")
        self.session = self.opened.enter_context(
            between_pipes("play", f"--wording={wording.option}", *options)
        )
        self.model = Model(wording, names, first)
        self.typed = 0
        lines = self.session.read_until(QUESTION).splitlines()
        self.check_position(self.selected(lines) if self.model.rule == "random" else lines)

    def selected(self, lines: list[str]) -> list[str]:
        """Note who was picked at random to start; return the lines after that."""
        announced = "{} has randomly been selected as the first player"
        lots = {announced.format(self.model.name(mark)): mark for mark in "XO"}
        self.model.first = lots[lines[0]]
        return lines[1:]

    @precondition(lambda self: self.phase == "move")
    @rule(which=st.integers(0, 8))
    def place(self, which: int) -> None:
        """Place a token on a free cell."""
        free = self.model.free()
        self.place_token(free[which % len(free)])

    @precondition(lambda self: self.phase == "move")
    @rule(order=st.permutations(range(1, 10)))
    def play_out(self, order: list[int]) -> None:
        """Fill free cells until the game is won or drawn."""
        for cell in order:
            if self.phase == "move" and cell not in self.model.placed:
                self.place_token(cell)
        assert self.phase == "again"

    @precondition(lambda self: self.phase == "move" and self.model.placed)
    @rule(which=st.integers(0, 8))
    def try_taken(self, which: int) -> None:
        """Try a taken cell: the free ones are listed, and the same player is asked again."""
        cell = self.model.placed[which % len(self.model.placed)]
        free = ", ".join(map(str, self.model.free()))
        assert self.answer(str(cell)) == [
            self.model.wording.invalid,
            f"That cell is taken: the free cells are {free}.",
            *self.model.question(),
        ]

    @precondition(lambda self: self.phase == "move")
    @rule(line=st.sampled_from(NONSENSE))
    def type_nonsense(self, line: str) -> None:
        """Type something that is not a move: the reply says why, and the same player is asked again."""
        invalid, sentence, *question = self.answer(line)
        assert (invalid, question) == (self.model.wording.invalid, self.model.question())
        assert sentence.endswith(".")
        assert sentence.isprintable()

    @precondition(lambda self: self.phase == "move")
    @rule(word=st.sampled_from(["undo", "UNDO ", "\tUndo"]))
    def undo(self, word: str) -> None:
        """Take back the last token, if there is one."""
        answer = self.answer(word)
        if self.model.placed:
            self.model.placed.pop()
            self.check_position(answer)
        else:
            assert "take back" in answer[0]
            assert answer[1:] == self.model.question()

    @precondition(lambda self: self.phase == "move")
    @rule()
    def ask_for_help(self) -> None:
        """Ask for help: every command is listed, and the same player is asked again."""
        shown = self.answer("help")
        assert all(word in "\n".join(shown) for word in ("1 to 9", "undo", "resign", "help", "quit"))
        question = self.model.question()
        assert shown[-len(question) :] == question

    @precondition(lambda self: self.phase == "move")
    @rule()
    def resign(self) -> None:
        """Resign: the opponent wins."""
        resigned, *answer = self.answer("resign")
        assert resigned == f"{self.model.name(self.model.turn())} resigned."
        self.model.resigned = True
        self.check_position(answer)

    @precondition(lambda self: self.phase == "again")
    @rule(word=st.sampled_from(["y", "yes", "Y", " YES "]))
    def play_again(self, word: str) -> None:
        """Play another game; the right player starts."""
        answer = self.answer(word)
        self.model.next_game()
        if self.model.rule == "random":
            self.check_position(self.selected(answer))
        else:
            assert answer[0] == f"{self.model.name(self.model.first)} starts."
            self.check_position(answer[1:])

    @precondition(lambda self: self.phase == "again")
    @rule(
        line=st.sampled_from(
            [*NONSENSE[:-8], "5", "undo", "resign", "hint", "help", "?", "yn", "\x1b[2J", "\u202ey"]
        )
    )
    def answer_unclearly(self, line: str) -> None:
        """Answer neither yes nor no: the question is asked again."""
        assert self.answer(line) == ["Please answer y or n.", AGAIN]

    @precondition(lambda self: self.phase == "again")
    @rule(word=st.sampled_from(["n", "no", "N", " No"]))
    def decline_another(self, word: str) -> None:
        """Decline another game."""
        self.leave(f"{word}\n", "Goodbye!\n")

    @precondition(lambda self: self.phase != "away" and self.typed > 8)
    @rule(way=st.sampled_from(["quit\n", "QUIT\n", "", "interrupt"]))
    def quit(self, way: str) -> None:
        """Leave with a command, at the end of input, or with Ctrl-C."""
        if way == "interrupt":
            self.leave(way, "\nGoodbye!\n", 130)
        else:
            self.leave(way, "Goodbye!\n")

    @precondition(lambda self: self.phase == "away")
    @rule(wording=st.sampled_from(WORDINGS))
    def restart(self, wording: WordingFormat) -> None:
        """Start the command again, with a score of zero."""
        self.start(wording, "", "", "O")

    def leave(self, way: str, last_words: str, code: int = 0) -> None:
        """Leave, and check the last output and the exit code."""
        assert self.session is not None
        if way == "interrupt":
            self.session.send(signal.SIGINT)
        else:
            self.session.type(way)
            self.session.end_input()
        assert self.session.read_until("nothing more") == last_words
        assert self.session.end() == code
        self.phase = "away"


@pytest.mark.torture
def test_the_command_plays_as_the_model_does() -> None:
    """Boards, questions, results, score and exit code are right, whatever is typed."""
    run_state_machine_as_test(
        Keyboard,
        settings=settings(
            max_examples=short_or_long(16, 500),
            stateful_step_count=short_or_long(30, 60),
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
