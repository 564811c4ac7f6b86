"""A game in one terminal, with people, bots and programs: its loop, and one game after another."""

from __future__ import annotations

from collections.abc import Sequence

from noughts.bots.registry import BOT, LEVELS, level_of
from noughts.cli import hints
from noughts.cli.exit import INTERRUPTED
from noughts.cli.input import LineSource, UnreadableLine
from noughts.cli.opening import EMPTY_SEATING, Seating, Starters, choose, opening_events
from noughts.cli.prompt import Prompt, Quit
from noughts.cli.question import (
    AGAIN,
    EASIER,
    HARDER,
    LEAVE,
    MOVE_ACTIONS,
    NO_WORDS,
    REVIEW,
    SWAP,
    YES_WORDS,
    Question,
    read_cell,
)
from noughts.cli.recorder import Recorder
from noughts.cli.screen import Screen
from noughts.core.board import Mark
from noughts.core.errors import CommandRefused, IllegalMove, IllegalMoveReason, UnreadableCell
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Command, Game, PlaceToken, Resign, TakeBack
from noughts.core.player import Player
from noughts.store.base import StoredGame
from noughts.store.errors import StaleVersion, StoreError
from noughts.text.speaker import Speaker


class LocalGame:
    """One screen, one keyboard, and the score between the players."""

    def __init__(
        self,
        screen: Screen,
        typed: LineSource,
        recorder: Recorder,
        starters: Starters,
        players: Sequence[Player] = (),
        seating: Seating = EMPTY_SEATING,
    ) -> None:
        self._screen = screen
        self._text = screen.wording.say
        self._prompt = Prompt(screen, typed)
        self._recorder = recorder
        self._starters = starters
        self._players = players
        self._seating = seating
        self._opponents = seating.opponents
        self._score = dict.fromkeys((Mark.X, Mark.O, None), 0)
        self._is_over = False

    def play(self) -> None:
        """Play until the players have had enough."""
        self._play_from(self._begin(None))

    def resume(self, stored: StoredGame) -> None:
        """Continue a game, and then play as many more as the players like."""
        left = self._recorder.open(stored)
        self._players = left.players
        self._play_from(left)

    def _play_from(self, game: Game) -> None:
        try:
            with self._prompt:
                while True:
                    game = self._play_one(game)
                    self._score[game.winner] += 1
                    hints.show_end(self._screen, game, self._score)
                    have_swapped = self._choose_next(game)
                    game = self._begin(game, have_swapped=have_swapped)
        except Quit:
            self._leave()
        except KeyboardInterrupt:
            if not self._screen.interactive:
                raise
            self._leave()
            raise SystemExit(INTERRUPTED) from None

    def _leave(self) -> None:
        """Say goodbye, and how to continue a game that is not over."""
        self._prompt.end_question()
        lines = self._screen.close()
        if not self._is_over and (short_id := self._recorder.short_id):
            lines.say(self._text("game.saved", game=short_id))
        lines.say(self._text("game.goodbye"))
        lines.flush()

    def _begin(self, before: Game | None, *, have_swapped: bool = False) -> Game:
        """Start a game, and say who moves first unless it is the first game and was not random."""
        first = self._starters.pick(before, have_swapped=have_swapped)
        game = self._recorder.begin(first, self._players)
        line = self._starters.announcement(self._screen, game)
        if before is not None and line is None:
            line = self._text("game.starts", player=self._screen.name(game, first))
        if line is not None:
            self._screen.say(line)
        self._screen.log(opening_events(first, self._players))
        return game

    def _play_one(self, game: Game) -> Game:
        people = [mark for mark in Mark if mark not in self._opponents]
        self._screen.you = people[0] if len(people) == 1 else None
        self._is_over = False
        for opponent in self._opponents.values():
            opponent.start_game()
        self._screen.show_heading(game, self._score)
        self._screen.show(game)
        while mark := game.active:
            if mark in self._opponents:
                game = self._let_move(game, mark)
            else:
                self._prompt.ask(move_question(self._screen, game, mark), below_board=True)
                game = self._answer(game, mark)
        self._is_over = True
        for mark, opponent in self._opponents.items():
            if comment := opponent.finish_game(game, mark, self._screen.wording):
                self._screen.say(comment)
        return game

    # After a game

    def _choose_next(self, game: Game) -> bool:
        """Ask what to do next, until it is another game; return whether the players change marks."""
        while True:
            question = self._ending()
            self._prompt.ask(question, below_board=False)
            try:
                words = self._prompt.read_words()
            except UnreadableLine:
                words = "?"
            if words in NO_WORDS:
                raise Quit
            if words in YES_WORDS or (self._screen.interactive and not words):
                return False
            if words == SWAP.word and SWAP in question.actions:
                self._swap()
                return True
            if words in (HARDER.word, EASIER.word) and (level := self._next_level(words)):
                self._change_level(level)
                return False
            if hints.is_about_moves(words):
                hints.answer(self._prompt, game, words)
            else:
                self._screen.say(self._refusal(question))

    def _ending(self) -> Question:
        """Return the question after a game, with what makes sense for these players."""
        actions = [AGAIN]
        if self._screen.interactive:
            actions += [step for step in (HARDER, EASIER) if self._next_level(step.word)]
            actions += [SWAP] if len(self._opponents) < len(Mark) else []
            actions += [REVIEW]
        others = ", ".join(action.word for action in actions[1:])
        return Question(self._screen.again(others), (*actions, LEAVE), default=AGAIN.word)

    def _refusal(self, question: Question) -> str:
        """Say which answers the question after a game has."""
        others = [] if self._screen.compact else [action.word for action in question.actions[1:-1]]
        answers = Speaker(self._screen.wording).any_of(["y", "n", *others])
        return self._text("prompt.one_of", answers=answers)

    def _next_level(self, word: str) -> str | None:
        """Return the level above or below that of the only bot, if there is one."""
        names = [opponent.name for opponent in self._opponents.values()]
        level, levels = level_of(names[0]) if len(names) == 1 else None, [*LEVELS]
        if level is None:
            return None
        at = levels.index(level) + (1 if word == HARDER.word else -1)
        return levels[at] if at in range(len(levels)) else None

    def _swap(self) -> None:
        """Let the players change marks, and take their wins with them."""
        self._players = tuple(player.replace(mark=player.mark.other) for player in self._players)
        self._opponents = {mark.other: opponent for mark, opponent in self._opponents.items()}
        self._score[Mark.X], self._score[Mark.O] = self._score[Mark.O], self._score[Mark.X]

    def _change_level(self, level: str) -> None:
        """Seat the bot of another level, and start a new series."""
        from noughts.cli.settings import change_settings  # noqa: PLC0415 - rarely needed

        if opponent := self._seating.seat(f"{BOT}{LEVELS[level]}"):
            [mark] = self._opponents
            self._opponents = {mark: opponent}
            people = tuple(player for player in self._players if player.mark is not mark)
            self._players = (*people, Player(opponent.name, mark))
            self._score = dict.fromkeys(self._score, 0)
            change_settings(level=level)

    # During a game

    def _let_move(self, game: Game, mark: Mark) -> Game:
        self._screen.think(game)
        cell = choose(self._opponents[mark], game, self._screen)
        if cell is None:
            return self._apply(game, Resign(mark))
        name = self._screen.name(game, mark)
        self._screen.say(self._text("game.takes", player=name, cell=self._screen.number(cell)))
        return self._apply(game, PlaceToken(mark, cell))

    def _answer(self, game: Game, mark: Mark) -> Game:
        """Do what the player types; if that cannot be done, say why and leave the game as it is."""
        try:
            words = self._prompt.read_words()
            if not hints.is_question(words):
                return self._apply(game, self._command(words, mark))
            hints.answer(self._prompt, game, words)
        except UnreadableLine as refusal:
            self._log_no_such_cell(mark)
            self._prompt.refuse_error(refusal, game)
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
            return PlaceToken(mark, read_cell(words))
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
                player = self._screen.subject(answer.game, resigned)
                self._screen.say(self._text("game.resigned", player=player))
        self._screen.show(answer.game)
        return answer.game

    def _log_no_such_cell(self, mark: Mark) -> None:
        self._screen.log([PlayerNotifyIllegalMove(mark, IllegalMoveReason.NO_SUCH_CELL)])


def move_question(screen: Screen, game: Game, mark: Mark) -> Question:
    return Question(screen.move_question(game, mark), MOVE_ACTIONS, wants_cell=True)
