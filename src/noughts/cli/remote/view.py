"""What is to be seen at a game on a server: what happens there is told as it comes."""

from __future__ import annotations

from collections.abc import Iterable

from noughts.cli.prompt import Talk
from noughts.cli.remote.following import Following
from noughts.cli.remote.messages import Room, Standing
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.events import Event, PlayerJoined, PlayerPlacedToken, PlayerResigned, PlayerTookBack
from noughts.core.game import Game
from noughts.core.notation import format_cell


class Seen:
    """A game and the room around it, seen from a seat, or by somebody who watches."""

    def __init__(self, talk: Talk, standing: Standing, mark: Mark | None) -> None:
        self._talk = talk
        self._following = Following(standing.version, standing.game)
        self.room = standing.room
        self.mark = mark
        """Ours; None if we watch."""
        self._gone: set[Mark] = set()
        self._asked_back = 0
        """The version at which we asked to take back."""

    @property
    def game(self) -> Game:
        """The game as it was last told to the end of a command."""
        return self._following.game

    @property
    def version(self) -> int:
        """How many events were told."""
        return self._following.version

    @property
    def is_asked_back(self) -> bool:
        """Whether the other player wants to take back, and asks us."""
        offer = self.room.offer
        is_theirs = offer and offer.kind == "takeBack" and offer.mark is not self.mark
        return bool(is_theirs and self.mark and not self.game.is_over)

    def name(self, mark: Mark) -> str:
        """Call a player by name."""
        return self._talk.name(self.game, mark)

    def look_again(self, standing: Standing) -> None:
        """Forget what was told, and go on from how it stands."""
        self._following = Following(standing.version, standing.game)
        self.room = standing.room
        self._talk.show(self.game)

    def begin(self) -> None:
        """Show how it stands."""
        self._talk.show(self.game)
        if self.game.is_over:
            self._tell_score()

    def take(self, version: int, event: Event) -> None:
        """Take up an event, and tell what a command led to once that is known to its end."""
        if told := self._following.take(version, event):
            self.room = self.room.replace(offer=None)  # whatever was offered has lapsed with it
            self._tell(told)

    def note_asked_back(self) -> None:
        """Note that the other player was asked whether we may take back."""
        self._asked_back = self.version

    def look_around(self, room: Room, *, is_first: bool) -> None:
        """Tell, in passing, who has come or gone, and what was offered."""
        before, self.room = self.room, room
        for mark in Mark:
            if before.chairs[mark].is_present:
                self.note_absence(mark)
            if mark in self._gone and room.chairs[mark].is_present:
                self._gone.remove(mark)
                self._talk.notice(f"{self.name(mark)} is back.", self.game)
        if self.mark is None or room.offer == before.offer:
            return
        other = self.mark.other
        if room.offer and room.offer.kind == "rematch" and room.offer.mark is other:
            self._talk.notice(f"{self.name(other)} wants to play again.", self.game)
        is_declined = room.offer is None and self._asked_back == self.version
        if is_declined and not is_first:  # after a break, what was agreed to is told only then
            self._asked_back = 0
            self._talk.notice(f"{self.name(other)} does not agree.", self.game)

    def note_absence(self, mark: Mark) -> None:
        """Tell that another player is not there, once."""
        chair = self.room.chairs[mark]
        is_there = chair.is_present or chair.is_bot or not chair.is_taken
        if mark is not self.mark and not is_there and mark not in self._gone:
            self._gone.add(mark)
            self._talk.notice(f"{self.name(mark)} is not here now.", self.game)

    def _tell(self, events: Iterable[Event]) -> None:
        """Tell what happened, and show the board if it is another."""
        is_new = False
        for event in events:
            words = self._words(event)
            if words:
                self._talk.say(words)
            is_new |= not isinstance(event, PlayerJoined) and words is not None
        if is_new:
            self.begin()

    def _words(self, event: Event) -> str | None:
        """Return how an event is told; not at all is None, and by the board alone is nothing."""
        wording = self._talk.screen.wording
        match event:
            case PlayerJoined(mark, name):
                return None if mark is self.mark else f"{printable(name)} plays {mark}."
            case PlayerPlacedToken(row, column, mark):
                if self.mark is None:
                    return wording.moves.format(player=self.name(mark))
                cell = format_cell(3 * row + column)
                takes = wording.takes.format(player=self.name(mark), cell=cell)
                return "" if mark is self.mark else takes
            case PlayerTookBack(mark):
                return wording.took_back.format(player=self.name(mark))
            case PlayerResigned(mark):
                return wording.resigned.format(player=self.name(mark))
            case _:
                return None

    def _tell_score(self) -> None:
        screen, ends = self._talk.screen, dict(self.room.score)
        ends[self.game.winner] += 1
        self._talk.notice(f"Score: {screen.points(self.game, ends)}", self.game)
