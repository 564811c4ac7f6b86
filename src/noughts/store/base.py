"""The contract of all stores: append at a version, read, list, watch.

A store keeps the events of many games. A game's version is the number of its events. Whoever appends
says which version they have seen, and exactly one of two who have seen the same one wins: the other is
refused with `StaleVersion`, and nothing of theirs is recorded. What was appended is durable before
`append` returns. An append that is tried again with the same key, after an outcome nobody knows, is
recorded once.

Beside the games stand notes, which may change (`notes.py`).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from noughts.core.codec import can_be_recorded
from noughts.core.errors import CorruptStore, InvalidId, RecordError, StoreUnavailable
from noughts.core.game import fold
from noughts.core.value import Value
from noughts.store.chain import GENESIS, Recorded, changed, check_id, check_linked, place
from noughts.store.group import Group
from noughts.store.ledger import DRAW, Append, entries
from noughts.store.notes import Notes
from noughts.store.watching import Bell, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Self

    from noughts.core.events import Event
    from noughts.core.game import Game
    from noughts.store.ledger import Listing

__all__ = ["ALL", "PAGE", "EventStore", "Listed", "Recorded", "Wanted", "Watch"]

PAGE = 1000
"""How many events of all games are read at once, unless somebody says otherwise."""


class Wanted(Value):
    """Which games to list: all, or those of a player, those that are over or not, those with an id."""

    player: str | None = None
    is_over: bool | None = None
    result: str | None = None
    """`X`, `O` or `draw`."""
    beginning: str = ""
    """What the game's id begins with."""


ALL = Wanted()


class Listed(NamedTuple):
    """A game in a list."""

    number: int
    """Its place among all games, in the order in which they were created, from 1 on."""
    id: str
    started: int = 0
    """When its first event was recorded, in milliseconds since 1970."""
    version: int = 0
    game: Game | None = None
    """What its events add up to, if they make a game."""
    position: int = 0
    """The position of its last event: games that were played at later have higher ones."""
    fault: str | None = None
    """Why there is no game, and nothing known of it."""


DAMAGED = "damaged: noughts store verify tells more"
LAWLESS = "recorded just so, and yet against the rules"


class EventStore(Notes):
    """The events of many games. Close it when you are done; any number of threads may share it."""

    def __init__(self) -> None:
        self._group = Group(self._record)
        self._bell = Bell()
        self._is_closed = False

    def append(self, game: str, events: Iterable[Event], *, expected: int, key: str, at: int) -> int:
        """Record what one command led to, all or none, and return the game's version with it.

        `expected` is the version that the command was judged at, `key` is the command's own, and `at`
        is now, in milliseconds since 1970.
        """
        append = Append(game, expected, entries(events, key, at))
        self._group.record((append,))
        if append.refusal:
            raise append.refusal
        return expected + len(append.entries)

    def record(self, appends: Sequence[Append]) -> None:
        """Record several appends in one commit, each judged by itself: its `refusal` tells."""
        self._group.record(appends)

    def restore(self, appends: Sequence[Append]) -> None:
        """Record what was recorded before, elsewhere: all of it in one commit, or none."""
        for append in appends:
            append.whole = True
        self._group.record(appends, alone=True)

    def read(self, game: str, after: int = 0) -> tuple[Recorded, ...]:
        """Return the game's events after that version; none if there is no such game.

        Every event is held against its hash, so that what has changed since it was recorded is never
        taken for the game.
        """
        self._check_open()
        found = self._rows(check_id(game), place(after) or 1)
        if after < 1:
            check_linked(found, 0, GENESIS)
            return tuple(found)
        if not found:
            return ()
        first, *rest = found
        if first.version != after or type(first.hash) is not bytes:
            raise CorruptStore(changed(first))
        check_linked(rest, after, first.hash)
        return tuple(rest)

    def feed(self, after: int = 0, limit: int = PAGE) -> tuple[Recorded, ...]:
        """Return the events of all games after that position, in the order of their recording."""
        self._check_open()
        found = self._feed(place(after), place(limit))
        for record, previous in found:
            if type(record.version) is not int or type(previous) is not bytes:
                raise CorruptStore(changed(record))
            check_linked((record,), record.version - 1, previous)
        return tuple(record for record, _ in found)

    def last_position(self) -> int:
        """Return the position of the last event of the store, 0 if there is none."""
        self._check_open()
        return self._last_position()

    def games(
        self, wanted: Wanted = ALL, *, limit: int = 20, before: int | None = None
    ) -> tuple[Listed, ...]:
        """List games, the newest first; those with lower numbers than `before`, for the next page."""
        return tuple(self._listed(listing) for listing in self.catalogue(wanted, limit, before))

    def catalogue(self, wanted: Wanted, limit: int, before: int | None = None) -> list[Listing]:
        """Return what the list of games itself says, the newest first."""
        self._check_open()
        if not _can_be(wanted):
            return []
        return self._catalogue(wanted, place(limit), None if before is None else place(before))

    def watch(self, game: str | None = None, after: int = 0) -> Watch:
        """Watch a game from that version on, or all games from that position on."""
        bell = self.bell()
        if game is None:
            return Watch(self.feed, lambda record: record.position, after, bell)
        check_id(game)
        return Watch(lambda version: self.read(game, version), lambda record: record.version, after, bell)

    def check(self) -> None:
        """Refuse if nothing can be read, or what was recorded now would not be found again."""
        self.last_position()

    def bell(self) -> Bell:
        """Return what is rung when anybody has recorded something or changed a note, anywhere."""
        self._check_open()
        self._listen()
        return self._bell

    def close(self) -> None:
        """Give everything back; what was appended is durable already, and no more can be asked for."""
        if not self._is_closed:
            self._is_closed = True
            self._bell.ring()
            self._group.record((), alone=True)  # which is when the last commit under way is done
            self._close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("the store is closed")

    def _record(self, batch: Sequence[Append]) -> None:
        if batch:
            self._check_open()
            self._commit(batch)
            self._bell.ring()

    def _listed(self, listing: Listing) -> Listed:
        rows = self._rows(listing.game, 1)
        try:
            check_linked(rows, 0, GENESIS)
            game = fold(record.event for record in rows)
        except CorruptStore:
            return Listed(listing.number, listing.game, fault=DAMAGED)
        except RecordError:
            return Listed(listing.number, listing.game, fault=LAWLESS)
        if not rows or type(rows[0].at) is not int or rows[0].at != place(rows[0].at):
            return Listed(listing.number, listing.game, fault=DAMAGED)
        first, last = rows[0], rows[-1]
        return Listed(listing.number, listing.game, first.at, last.version, game, last.position)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What an engine does: the rest is the same for all.

    @abstractmethod
    def _commit(self, batch: Sequence[Append]) -> None:
        """Judge a batch and make it durable, in one commit; only one thread calls this at a time."""

    @abstractmethod
    def _rows(self, game: str, first: int) -> list[Recorded]:
        """Read a game's events from that version on, in order."""

    @abstractmethod
    def _feed(self, after: int, limit: int) -> list[tuple[Recorded, bytes]]:
        """Read events of all games in order, each with the hash of its game's event before it."""

    @abstractmethod
    def _last_position(self) -> int:
        """Read the position of the last event."""

    @abstractmethod
    def _catalogue(self, wanted: Wanted, limit: int, before: int | None) -> list[Listing]:
        """Read the list of games, the newest first, from the one before that number on."""

    @abstractmethod
    def _listen(self) -> None:
        """Have the bell rung when another process writes something; called for each watch."""

    @abstractmethod
    def complaints(self) -> Iterator[str]:
        """Let the engine itself look for damage, and tell what it finds."""

    @abstractmethod
    def _close(self) -> None:
        """Give everything back."""


def _can_be(wanted: Wanted) -> bool:
    """Tell whether there can be such a game: no engine is asked for what it could not even hold."""
    try:
        return (
            (wanted.player is None or can_be_recorded(wanted.player))
            and wanted.result in (None, DRAW, "X", "O")
            and (not wanted.beginning or bool(check_id(wanted.beginning)))
        )
    except InvalidId:
        return False
