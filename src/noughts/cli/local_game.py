"""A game in one terminal, with people, bots and programs: its loop, and one game after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from noughts.cli import hints
from noughts.cli.help import read_words
from noughts.cli.input import UnreadableLine, read_line
from noughts.cli.opening import Opponent, Starters, choose, opening_events
from noughts.cli.prompt import Prompt, Quit
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Screen
from noughts.core.board import Mark
from noughts.core.errors import CommandRefused, IllegalMove, IllegalMoveReason, UnreadableCell
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Command, Game, PlaceToken, Resign, TakeBack
from noughts.core.notation import format_cell, parse_cell
from noughts.core.player import Player
from noughts.store.errors import StaleVersion, StoreError


class LocalGame:
    """One screen, one keyboard, and the score between the players."""

    def __init__(
        self,
        screen: Screen,
        keyboard: BinaryIO | None,
        recorder: Recorder,
        starters: Starters,
        players: Sequence[Player] = (),
        opponents: Mapping[Mark, Opponent] | None = None,
    ) -> None:
        self._screen = screen
        self._text = screen.wording.say
        self._prompt = Prompt(screen)
        self._keyboard = keyboard
        self._recorder = recorder
        self._starters = starters
        self._players = players
        self._opponents = opponents or {}
        self._score = dict.fromkeys((Mark.X, Mark.O, None), 0)

    def play(self) -> None:
        """Play until the players have had enough."""
        self._play_from(self._begin(None))

    def resume(self, game: str) -> None:
        """Continue a game, and then play as many more as the players like."""
        left = self._recorder.open(game).game
        self._players = left.players
        self._play_from(left)

    def _play_from(self, game: Game) -> None:
        try:
            while True:
                game = self._play_one(game)
                self._score[game.winner] += 1
                points = self._screen.points(game, self._score)
                self._prompt.notice(self._text("game.score", points=points), game)
                if not self._prompt.confirm(self._text("prompt.again"), self._read_words):
                    break
                game = self._begin(game)
        except Quit:
            pass
        self._screen.say(self._text("game.goodbye"))

    def _begin(self, before: Game | None) -> Game:
        """Start a game, and say who moves first unless it is the first game and was not random."""
        first = self._starters.pick(before)
        game = self._recorder.begin(first, self._players)
        line = self._starters.announcement(self._screen, game)
        if before is not None and line is None:
            line = self._text("game.starts", player=self._screen.name(game, first))
        if line is not None:
            self._screen.say(line)
        self._screen.log(opening_events(first, self._players))
        return game

    def _play_one(self, game: Game) -> Game:
        for opponent in self._opponents.values():
            opponent.start_game()
        self._screen.show(game)
        try:
            while mark := game.active:
                if mark in self._opponents:
                    game = self._let_move(game, mark)
                else:
                    self._prompt.ask(self._screen.move_question(game, mark), below_board=True)
                    game = self._answer(game, mark)
        except Quit:
            if short_id := self._recorder.short_id:
                self._screen.say(self._text("game.saved", game=short_id))
            raise
        for mark, opponent in self._opponents.items():
            if comment := opponent.finish_game(game, mark):
                self._screen.say(comment)
        return game

    def _let_move(self, game: Game, mark: Mark) -> Game:
        self._screen.flush()
        cell = choose(self._opponents[mark], game, self._screen)
        if cell is None:
            return self._apply(game, Resign(mark))
        name = self._screen.name(game, mark)
        self._screen.say(self._text("game.takes", player=name, cell=format_cell(cell)))
        return self._apply(game, PlaceToken(mark, cell))

    def _answer(self, game: Game, mark: Mark) -> Game:
        """Do what the player types; if that cannot be done, say why and leave the game as it is."""
        try:
            words = self._read_words()
            if not hints.is_question(words):
                return self._apply(game, self._command(words, mark))
            said = hints.answer(game, words, self._screen.coach, short=self._screen.compact)
            self._prompt.reply(said, game)
        except UnreadableLine as refusal:
            self._log_no_such_cell(mark)
            self._prompt.refuse(str(refusal), game)
        except (UnreadableCell, IllegalMove, CommandRefused) as refusal:
            self._prompt.refuse_error(refusal, game)
        return game

    def _command(self, words: str, mark: Mark) -> Command:
        match words:
            case "undo":
                # The last token is the opponent's; against a bot, its answer goes with one's own token.
                return TakeBack(mark if mark.other in self._opponents else mark.other)
            case "resign":
                return Resign(mark)
        try:
            return PlaceToken(mark, parse_cell(words))
        except UnreadableCell:
            self._log_no_such_cell(mark)
            raise

    def _apply(self, game: Game, command: Command) -> Game:
        """Decide and record a command, and show what it led to."""
        try:
            answer = self._recorder.apply(command)
        except StoreError as error:
            if full_id := self._recorder.full_id:
                raise type(error)(f"{error} (noughts resume {full_id} continues the game)") from error
            raise
        except StaleVersion:
            answer = self._recorder.reload()
            self._screen.say(self._text("game.moved_on"))
            self._screen.log(answer.events)
        else:
            self._screen.log(answer.events)
            if isinstance(answer.events[0], PlayerNotifyIllegalMove):
                self._prompt.refuse_taken(game)
                return game
            if resigned := answer.game.resigned:
                name = self._screen.name(answer.game, resigned)
                self._screen.say(self._text("game.resigned", player=name))
        self._screen.show(answer.game)
        return answer.game

    def _log_no_such_cell(self, mark: Mark) -> None:
        self._screen.log([PlayerNotifyIllegalMove(mark, IllegalMoveReason.NO_SUCH_CELL)])

    def _read_words(self) -> str:
        """Return what was typed, with the words of commands in full."""
        try:
            line = read_line(self._keyboard)
        except UnreadableLine:
            self._prompt.take_answer()
            raise
        words = "quit" if line is None else read_words(line)
        if words == "quit":
            self._prompt.end_question()
            raise Quit
        self._prompt.take_answer()
        return words
