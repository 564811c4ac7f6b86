"""A game at one keyboard, with people, bots and programs: its loop, and one game after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import BinaryIO

from noughts.bots.errors import Forfeit, PolicyError
from noughts.cli.keyboard import UnreadableLine, read_line
from noughts.cli.opening import Starters, opening_events
from noughts.cli.opponents import Sitter
from noughts.cli.recorder import Notebook
from noughts.cli.screen import Screen
from noughts.core.board import Cell, Mark
from noughts.core.errors import CommandRefused, IllegalMove, IllegalMoveReason, UnreadableCell, printable
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import (
    Command,
    Game,
    PlaceToken,
    Resign,
    TakeBack,
    decide,
)
from noughts.core.notation import format_cell, parse_cell
from noughts.core.player import Player
from noughts.store.errors import StaleVersion, StoreError

HELP = """\
Type the number of a free cell, 1 to 9, row by row from the top left;
row,column (0,0 to 2,2) and a1 to c3 name the same cells.
hint    show a best move, and why it is one
why     explain the last token; why 5, what a token on 5 would do
undo    take back the last token; against a bot, your last token and its answer
resign  give the game up
help    show this
quit    leave"""

SHORT_HELP = "hint why undo quit"


class _Left(Exception):
    """The players left the table, by a word of theirs or at the end of input."""


class Table:
    """One screen, one keyboard, and the score between those who sit there."""

    def __init__(
        self,
        screen: Screen,
        keyboard: BinaryIO | None,
        notebook: Notebook,
        starters: Starters,
        players: Iterable[Player] = (),
        sitters: Mapping[Mark, Sitter] | None = None,
    ) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._notebook = notebook
        self._starters = starters
        self._players = tuple(players)
        self._sitters = sitters or {}
        self._score = dict.fromkeys((Mark.X, Mark.O, None), 0)

    def play(self) -> None:
        """Play until the players have had enough."""
        self._play_from(self._begin(None))

    def resume(self, game: str) -> None:
        """Play on where a game was left, and then as many more as the players like."""
        left = self._notebook.open(game).game
        self._players = left.players
        self._play_from(left)

    def _play_from(self, game: Game) -> None:
        try:
            while True:
                game = self._play_one(game)
                self._tell_score(game)
                if not self._play_again():
                    break
                game = self._begin(game)
        except _Left:
            pass
        self._screen.say("Goodbye!")

    def _begin(self, before: Game | None) -> Game:
        """Start a game, and say who moves first unless it is the first game and no surprise."""
        first = self._starters.pick(before)
        game = self._notebook.begin(first, self._players)
        line = self._starters.announcement(self._screen, game)
        if before is not None and line is None:
            player = self._screen.name(game, first)
            line = self._screen.wording.starts.format(player=player)
        if line is not None:
            self._screen.say(line)
        self._screen.log(opening_events(first, self._players))
        return game

    def _play_one(self, game: Game) -> Game:
        for sitter in self._sitters.values():
            sitter.begin()
        self._screen.show(game)
        try:
            while mark := game.active:
                if mark in self._sitters:
                    game = self._let_move(game, mark, self._sitters[mark])
                else:
                    self._ask_for_move(game, mark)
                    game = self._answer(game, mark)
        except _Left:
            if bookmark := self._notebook.bookmark:
                self._screen.say(f"The game is saved: noughts resume {bookmark}")
            raise
        for seat, sitter in self._sitters.items():
            if words := sitter.learn(game, seat):
                self._screen.say(words)
        return game

    def _let_move(self, game: Game, mark: Mark, sitter: Sitter) -> Game:
        """Let a bot or a program move; one that does anything else has lost."""
        self._screen.flush()
        try:
            cell = sitter.choose(game.board)
        except (Forfeit, PolicyError) as forfeit:
            self._screen.say(f"{self._screen.name(game, mark)} forfeits: {printable(str(forfeit))}.")
            return self._record(Resign(mark))
        if cell is None:
            return self._record(Resign(mark))
        player, number = self._screen.name(game, mark), format_cell(cell)
        self._screen.say(self._screen.wording.takes.format(player=player, cell=number))
        return self._record(PlaceToken(mark, cell))

    def _ask_for_move(self, game: Game, mark: Mark) -> None:
        question = "{mark} 1-9:" if self._screen.compact else self._screen.wording.ask
        self._screen.ask_below_board(question.format(mark=mark, player=self._screen.name(game, mark)))

    def _answer(self, game: Game, mark: Mark) -> Game:
        """Do what the player says; if it cannot be done, say why and leave the game as it was."""
        try:
            words = self._hear()
            if words == "help":
                return self._say_and_show(game, SHORT_HELP if self._screen.compact else HELP)
            if words == "hint" or words.split()[:1] == ["why"]:
                return self._say_and_show(game, self._coached(game, words))
            command = self._understand(words, mark)
            events = decide(game, command)
        except UnreadableCell as refusal:
            return self._refuse(game, f"{refusal}, or help")
        except UnreadableLine as refusal:
            self._log_no_such_cell(mark)
            return self._refuse(game, str(refusal))
        except IllegalMove:
            return self._refuse_taken(game)
        except CommandRefused as refusal:
            return self._say_and_show(game, _sentence(str(refusal)))
        if isinstance(events[0], PlayerNotifyIllegalMove):
            self._screen.log(events)
            return self._refuse_taken(game)
        return self._record(command)

    def _record(self, command: Command) -> Game:
        """Write down what is right in the game as it was last seen, and show what it led to."""
        try:
            answer = self._notebook.write(command)
        except StoreError as error:
            raise self._told_where_to_go_on(error) from error
        except (StaleVersion, CommandRefused):  # it was right when this player saw the game last
            answer = self._notebook.look_again()
            self._screen.say("Somebody has played on elsewhere.")
            self._screen.log(answer.events)
            self._screen.show(answer.game)
            return answer.game
        self._screen.log(answer.events)
        after = answer.game
        if after.resigned:
            who = self._screen.name(after, after.resigned)
            self._screen.say(self._screen.wording.resigned.format(player=who))
        self._screen.show(after)
        return after

    def _coached(self, game: Game, words: str) -> str:
        """Return what the coach says: a hint, or why a move is good or bad."""
        from noughts.cli.hints import explain, hint  # noqa: PLC0415 - only who asks for it loads it

        if words == "hint":
            return hint(game.board, short=self._screen.compact)
        return explain(game, words.removeprefix("why").strip(), short=self._screen.compact)

    def _understand(self, words: str, mark: Mark) -> Command:
        match words:
            case "undo":
                # The token that lies there last is the opponent's; a bot's answer goes with one's own.
                return TakeBack(mark if mark.other in self._sitters else mark.other)
            case "resign":
                return Resign(mark)
            case _:
                return PlaceToken(mark, self._read_cell(words, mark))

    def _read_cell(self, words: str, mark: Mark) -> Cell:
        try:
            return parse_cell(words)
        except UnreadableCell:
            self._log_no_such_cell(mark)
            raise

    def _log_no_such_cell(self, mark: Mark) -> None:
        self._screen.log([PlayerNotifyIllegalMove(mark, IllegalMoveReason.NO_SUCH_CELL)])

    def _told_where_to_go_on(self, error: StoreError) -> StoreError:
        bookmark = self._notebook.bookmark_of_what_was_seen
        return (
            type(error)(f"{error} (noughts resume {bookmark} goes on with the game)")
            if bookmark
            else error
        )

    def _refuse_taken(self, game: Game) -> Game:
        return self._refuse(game, f"that cell is taken: the free cells are {_free(game)}")

    def _refuse(self, game: Game, why: str) -> Game:
        refusal = self._screen.wording.invalid
        return self._say_and_show(
            game, refusal if self._screen.compact else f"{refusal}\n{_sentence(why)}"
        )

    def _say_and_show(self, game: Game, words: str) -> Game:
        """Say something in between, and show the board again where that took it from sight."""
        self._screen.say(words)
        if self._screen.compact or (self._screen.interactive and not self._screen.spoken):
            self._screen.show(game)
        return game

    def _hear(self) -> str:
        """Return what was typed, small letters and single spaces only; `quit` is heard everywhere."""
        line = read_line(self._keyboard)
        words = "quit" if line is None else " ".join(line.lower().split())
        if words == "quit":
            self._screen.end_line()
            raise _Left
        return words

    def _tell_score(self, game: Game) -> None:
        self._score[game.winner] += 1
        self._screen.say(f"Score: {self._screen.points(game, self._score)}")
        if self._screen.compact:  # five rows hold the result, the board and the next question
            self._screen.show(game)

    def _play_again(self) -> bool:
        while True:
            self._screen.ask("Play again? (y/n)")
            try:
                answer = self._hear()
            except UnreadableLine:
                answer = ""
            if answer in ("y", "yes", "n", "no"):
                return answer.startswith("y")
            self._screen.say("Please answer y or n.")


def _free(game: Game) -> str:
    return ", ".join(map(format_cell, game.board.free_cells))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
