"""What the terminal shows of a game on a server, and the copy of the game that is kept for it."""

from __future__ import annotations

from collections.abc import Iterable

from noughts.cli import hints
from noughts.cli.prompt import Prompt
from noughts.cli.question import AGAIN, LEAVE, MOVE_ACTIONS, NO, REVIEW, YES, Question
from noughts.cli.remote.client import BadResponse
from noughts.cli.remote.messages import GameSnapshot, RoomState
from noughts.core.board import Mark
from noughts.core.errors import RecordError, printable
from noughts.core.events import (
    Event,
    GameCompleted,
    GameReady,
    PlayerActive,
    PlayerJoined,
    PlayerPlacedToken,
    PlayerResigned,
    PlayerTookBack,
)
from noughts.core.game import Game, evolve

_MAX_EVENTS_PER_COMMAND = 5
"""A winning token leads to five events."""


class GameReplica:
    """The game up to the last command whose events have all arrived."""

    def __init__(self, version: int, game: Game) -> None:
        self.version = version
        self.game = game
        self._next = game
        self._pending: list[Event] = []

    def apply(self, version: int, event: Event) -> list[Event]:
        """Apply the next event; return all events of its command once they are complete.

        Known versions are ignored: an event comes with the answer to a command and by the stream.
        """
        if version <= self.version:
            return []
        if version != self.version + 1:
            raise BadResponse("the server skipped an event")
        try:
            self._next = evolve(self._next, event)
        except RecordError as error:
            raise BadResponse(f"the server sent an impossible game: {error}") from error
        self.version = version
        self._pending.append(event)
        if not self._ends_command(event) and len(self._pending) < _MAX_EVENTS_PER_COMMAND:
            return []
        if not _is_consistent(self._next):
            raise BadResponse(f"the server sent an impossible game: {event} is wrong there")
        self.game = self._next
        complete, self._pending = self._pending, []
        return complete

    def _ends_command(self, event: Event) -> bool:
        if isinstance(event, PlayerJoined):  # after the second player the game is ready
            return self._next.is_ready or len(self._next.players) < len(Mark)
        return isinstance(event, PlayerActive | GameCompleted | GameReady)


def _is_consistent(game: Game) -> bool:
    """Check that the result follows from the board and the resignation, and each seat has one player."""
    marks = [player.mark for player in game.players]
    winner = game.resigned.other if game.resigned else game.board.winner
    is_over = game.board.is_over or game.resigned is not None
    return (game.is_over, game.winner) == (is_over, winner) and len(marks) == len({*marks} & {*Mark})


class GameView:
    """Shows a game and its room, from a seat or to a watcher."""

    def __init__(self, prompt: Prompt, snapshot: GameSnapshot, mark: Mark | None) -> None:
        self._prompt = prompt
        self._text = prompt.screen.wording.say
        self._replica = GameReplica(snapshot.version, snapshot.game)
        self.room = snapshot.room
        self.mark = mark
        """Our mark; None if we watch."""
        self._absent: set[Mark] = set()
        self._asked_version = 0
        """The version at which we asked to take back."""

    @property
    def game(self) -> Game:
        return self._replica.game

    @property
    def version(self) -> int:
        return self._replica.version

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
        self._replica = GameReplica(snapshot.version, snapshot.game)
        self.room = snapshot.room
        self._prompt.show(self.game)

    def show(self) -> None:
        """Show the board and, after the game, the score."""
        self._prompt.show(self.game)
        if self.game.is_over:
            score = dict(self.room.score)
            score[self.game.winner] += 1
            hints.show_end(self._prompt.screen, self.game, score)

    def apply(self, version: int, event: Event) -> None:
        """Apply an event, and show what a command did once all its events are here."""
        if events := self._replica.apply(version, event):
            self.room = self.room.replace(offer=None)  # every command cancels the offer
            self._show_events(events)

    def note_request(self) -> None:
        """Remember that we have asked to take back."""
        self._asked_version = self.version

    def update_room(self, room: RoomState, *, is_first: bool) -> None:
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
        is_declined = room.offer is None and self._asked_version == self.version
        if is_declined and not is_first:  # after a reconnect, the events of a consent come later
            self._asked_version = 0
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

    def _show_events(self, events: Iterable[Event]) -> None:
        """Describe the events, and show the board if it has changed."""
        is_changed = False
        for event in events:
            text = self._describe(event)
            if text:
                self._prompt.say(text)
            is_changed |= not isinstance(event, PlayerJoined) and text is not None
        if is_changed:
            self.show()

    def _describe(self, event: Event) -> str | None:
        """Return a sentence; an empty one if the board says it all, None if nothing is to be shown."""
        match event:
            case PlayerJoined(mark, name):
                joined = self._text("remote.joined", player=printable(name), mark=mark)
                return None if mark is self.mark else joined
            case PlayerPlacedToken(row, column, mark):
                if self.mark is None:
                    return self._text("game.moves", player=self.name(mark))
                cell = self._prompt.screen.number(3 * row + column)
                takes = self._text("game.takes", player=self.name(mark), cell=cell)
                return "" if mark is self.mark else takes
            case PlayerTookBack(mark):
                return self._text("game.took_back", player=self._prompt.screen.subject(self.game, mark))
            case PlayerResigned(mark):
                return self._text("game.resigned", player=self._prompt.screen.subject(self.game, mark))
            case _:
                return None
