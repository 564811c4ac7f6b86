"""What the terminal shows of a game on a server."""

from __future__ import annotations

from noughts.cli import hints
from noughts.cli.prompt import Prompt
from noughts.cli.question import AGAIN, LEAVE, MOVE_ACTIONS, NO, REVIEW, YES, Question
from noughts.cli.remote.background import GameChanged
from noughts.cli.remote.messages import GameSnapshot, PendingOffer, RoomState, seated
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.events import Event, PlayerJoined, PlayerPlacedToken, PlayerResigned, PlayerTookBack
from noughts.core.player import Player


class GameView:
    """Shows a game and its room, from a seat or to a watcher."""

    def __init__(self, prompt: Prompt, snapshot: GameSnapshot, mark: Mark | None) -> None:
        self._prompt = prompt
        self._text = prompt.screen.wording.say
        self.version, self.game, self.room = snapshot.version, snapshot.game, snapshot.room
        self.mark = mark
        """Our mark; None if we watch."""
        self._absent: set[Mark] = set()

    @property
    def has_to_answer(self) -> bool:
        """Whether the other player has asked us to allow a take-back."""
        offer = self.room.offer
        is_theirs = offer and offer.kind == "takeBack" and offer.mark is not self.mark
        return bool(is_theirs and self.mark and not self.game.is_over)

    def name(self, mark: Mark) -> str:
        return self._prompt.screen.name(self.game, mark)

    def reset(self, snapshot: GameSnapshot) -> None:
        """Replace the game by what the server has now."""
        self.version, self.game, self.room = snapshot.version, snapshot.game, snapshot.room
        self._prompt.show(self.game)

    def show(self) -> None:
        """Show the board and, after the game, the score."""
        self._prompt.show(self.game)
        if self.game.is_over:
            score = dict(self.room.score)
            score[self.game.winner] += 1
            hints.show_end(self._prompt.screen, self.game, score)

    def update_game(self, update: GameChanged) -> None:
        """Say what has happened, and show the board if it has changed."""
        before = self.game
        joined = [event for event in update.events if isinstance(event, PlayerJoined)]
        players = *before.players, *(Player.recorded(event.name, event.mark) for event in joined)
        self.version, self.game = update.version, seated(update.game, players)
        if update.events:
            self.room = self.room.replace(offer=None)  # every command cancels the offer
        for event in update.events:
            if text := self._describe(event):
                self._prompt.say(text)
        if (self.game.moves, self.game.is_over) != (before.moves, before.is_over):
            self.show()

    def update_room(self, room: RoomState) -> None:
        """Show who came, who left and what was offered."""
        before, self.room = self.room, room
        for mark in Mark:
            if before.seats[mark].is_present:
                self.show_absence(mark)
            if mark in self._absent and room.seats[mark].is_present:
                self._absent.remove(mark)
                self._prompt.notice(self._text("remote.back", player=self.name(mark)), self.game)
        if self.mark is None or room.offer == before.offer:
            return
        other = self.mark.other
        if room.offer and room.offer.kind == "rematch" and room.offer.mark is other:
            self._prompt.notice(self._text("remote.wants_rematch", player=self.name(other)), self.game)
        if before.offer == PendingOffer("takeBack", self.mark) and room.offer is None:
            self._prompt.notice(self._text("remote.declined", player=self.name(other)), self.game)

    def show_absence(self, mark: Mark) -> None:
        """Say once that another player is away."""
        seat = self.room.seats[mark]
        is_there = seat.is_present or seat.is_bot or not seat.is_taken
        if mark is not self.mark and not is_there and mark not in self._absent:
            self._absent.add(mark)
            self._prompt.notice(self._text("remote.away", player=self.name(mark)), self.game)

    def question(self) -> Question | None:
        """Return what the player has to answer now."""
        game, mark, screen = self.game, self.mark, self._prompt.screen
        if mark is None:
            return None
        if game.is_over:
            return Question(screen.again(), (AGAIN, REVIEW, LEAVE), default=AGAIN.word)
        if self.has_to_answer:
            text = self._text("remote.wants_undo", player=self.name(mark.other))
            return Question(text, (YES, NO))
        if not game.is_ready or game.active is not mark:
            return None
        return Question(screen.move_question(game, mark), MOVE_ACTIONS, wants_cell=True)

    def waiting(self) -> str | None:
        """Return a sentence that says whom the game waits for; bots answer at once."""
        game = self.game
        if not game.is_ready and not game.is_over:
            return self._text("remote.wait_for_seat")
        if self.mark and not self.room.seats[self.mark.other].is_bot:
            key = "remote.wait_for_consent" if game.is_over else "remote.wait_for_move"
            return self._text(key, player=self.name(self.mark.other))
        return None

    def _describe(self, event: Event) -> str | None:
        """Return a sentence; None if the board says it all."""
        match event:
            case PlayerJoined(mark, name) if mark is not self.mark:
                return self._text("remote.joined", player=printable(name), mark=mark)
            case PlayerPlacedToken(mark=mark) if self.mark is None:
                return self._text("game.moves", player=self.name(mark))
            case PlayerPlacedToken(row, column, mark) if mark is not self.mark:
                cell = self._prompt.screen.number(3 * row + column)
                return self._text("game.takes", player=self.name(mark), cell=cell)
            case PlayerTookBack(mark):
                return self._text("game.took_back", player=self._prompt.screen.subject(self.game, mark))
            case PlayerResigned(mark):
                return self._text("game.resigned", player=self._prompt.screen.subject(self.game, mark))
            case _:
                return None
