"""The end of a store, where the next events go; and which of those who wait may write there.

All engines judge alike, and here: an engine only reads the ends of games, and writes what it is told.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from noughts.core.codec import dumps, loads
from noughts.core.errors import ImpossibleHistory, MalformedRecord, StaleVersion, quoted
from noughts.core.events import GameDraw, GameWon, PlayerJoined, PlayerNotifyIllegalMove
from noughts.store.chain import GENESIS, LATEST, check_game, check_id, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from noughts.core.events import Event

    Change: TypeAlias = tuple[str, str]
    """A column of the list of games, and its new value."""
    Entry: TypeAlias = tuple[int, str, str, Change | None]
    """An event to be recorded: when, for which command, as text, and what the list needs of it."""
    Row: TypeAlias = tuple[int, int, int, int, str, str, bytes]
    """A recorded event, with its game's number in place of the game's id."""

DRAW = "draw"
"""The result of a game that nobody won; that of any other is the winner's mark."""


class Head(NamedTuple):
    """The end of a game: its number among all games, its version, and the hash of its last event."""

    number: int
    version: int = 0
    hash: bytes = GENESIS


class Append:
    """Events for one game, to be recorded after its version `expected`: all or none."""

    __slots__ = ("entries", "expected", "game", "position", "refusal", "whole")

    def __init__(self, game: str, expected: int, entries: Sequence[Entry]) -> None:
        if not entries:
            raise ValueError("an append has one event at least")
        if expected < 0:
            raise StaleVersion(f"no game is at version {quoted(expected)}: nothing was recorded")
        self.game = check_game(game)
        self.expected = expected
        self.entries = entries
        self.refusal: StaleVersion | None = None
        self.position = 0
        """That of its last event, once it is recorded; 0 if it was refused, or stood there already."""
        self.whole = False
        """Whether all that is recorded with it is recorded, or none."""

    def is_recorded_in(self, rows: Sequence[tuple[str, str]]) -> bool:
        """Tell whether these keys and texts, of what follows `expected`, are this append and no other."""
        count = len(self.entries)
        own = [(key, text) for _, key, text, _ in self.entries]
        return list(rows[:count]) == own and own[-1][0] not in [key for key, _ in rows[count:]]


class Listing(NamedTuple):
    """What a list of games can be searched by."""

    number: int
    game: str
    x: str | None = None
    o: str | None = None
    result: str | None = None

    def with_change(self, column: str, value: str) -> Listing:
        """Return the same with one column changed."""
        return Listing(**{**self._asdict(), column: value})


class Ledger:
    """The end of a store, as far as it is known; it grows with what is judged."""

    def __init__(self, position: int = 0, number: int = 0) -> None:
        self.position = position
        self.number = number
        self.heads: dict[str, Head] = {}

    def unknown(self, batch: Iterable[Append]) -> set[str]:
        """Return the games whose ends are not known yet."""
        heads = self.heads
        return {append.game for append in batch if append.game not in heads}

    def ends_at(self, position: int, number: int) -> bool:
        """Tell whether a store that ends there is as it is known here: whoever writes makes it longer."""
        return self.position == position and self.number == number

    def only_grows(self, batch: Sequence[Append]) -> bool:
        """Tell whether a batch goes on only with games that are known, and each append for itself."""
        heads = self.heads
        return all(append.game in heads and not append.whole for append in batch)

    def judge(self, batch: Sequence[Append], stands: Callable[[Append], bool]) -> Verdict:
        """Let the first in line win at each version, and say what is to be written.

        `stands` tells whether an append that comes too late is one that was recorded before: then it is
        as good as recorded now.
        """
        verdict = Verdict()
        if batch[0].whole:
            self._check_all(batch, stands)
        known = self.heads.get
        for append in batch:
            append.refusal = None  # it may have been judged before, at an end that was not the end
            head = known(append.game)
            version = head.version if head else 0
            if append.expected == version:
                self._take(append, head or self._new(append.game, verdict), verdict)
            elif append.expected > version or not (stands(append) or _is_among(verdict, head, append)):
                append.refusal, append.position = stale(append, version), 0
                verdict.refusals += 1
            else:
                append.position = 0
        return verdict

    def _check_all(self, batch: Sequence[Append], stands: Callable[[Append], bool]) -> None:
        """Refuse a batch of which not all can be taken, before anything of it is."""
        versions = {append.game: 0 for append in batch}
        versions |= {game: head.version for game, head in self.heads.items() if game in versions}
        taken: dict[tuple[str, int], Append] = {}
        for append in batch:
            version = versions[append.game]
            if append.expected == version:
                versions[append.game] += len(append.entries)
                taken[append.game, append.expected] = append
                continue
            twin = taken.get((append.game, append.expected))
            if not (twin and twin.entries == append.entries) and not stands(append):
                raise stale(append, version)

    def _new(self, game: str, verdict: Verdict) -> Head:
        self.number += 1
        verdict.games.append(Listing(self.number, game))
        return Head(self.number)

    def _take(self, append: Append, head: Head, verdict: Verdict) -> None:
        game = append.game
        number, version, link = head
        position = self.position
        for at, key, text, change in append.entries:
            version += 1
            position += 1
            link = seal(link, game, version, at, key, text)
            verdict.rows.append((position, number, version, at, key, text, link))
            if change:
                verdict.changes.append((*change, number))
        self.position = append.position = position
        self.heads[game] = Head(number, version, link)


class Verdict:
    """What is to be written: events, new games, and what the list of games says of them."""

    __slots__ = ("changes", "games", "refusals", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.refusals = 0
        self.games: list[Listing] = []
        self.changes: list[tuple[str, str, int]] = []
        """A column, its new value, and the number of the game."""


def _is_among(verdict: Verdict, head: Head | None, append: Append) -> bool:
    """Tell whether an append is among what is to be written, for somebody who tried it twice at once."""
    return append.is_recorded_in(
        [
            (key, text)
            for _, number, version, _, key, text, _ in verdict.rows
            if head and number == head.number and version > append.expected
        ]
    )


def entries(events: Iterable[Event], key: str, at: int) -> list[Entry]:
    """Make ready for the record what one command led to."""
    check_id(key, "command")
    if type(at) is not int or not 0 <= at <= LATEST:
        raise ValueError(f"a time is 0 to {LATEST} milliseconds after 1970, not {quoted(at)}")
    ready: list[Entry] = []
    for event in events:
        text, change = written_down(event)
        ready.append((at, key, text, change))
    return ready


def written_down(event: Event) -> tuple[str, Change | None]:
    """Write an event down, make sure that it can be read again, and look what the list needs of it."""
    written, types = _written(event)
    if types != [*map(type, event.__dict__.values())]:  # True is 1 for Python, and so is 1.0
        raise _unreadable(event)
    return written


@lru_cache(maxsize=4096)  # there are few different events, names apart, and they never change
def _written(event: Event) -> tuple[tuple[str, Change | None], list[type]]:
    if isinstance(event, PlayerNotifyIllegalMove):
        raise ImpossibleHistory(f"{event.kind()} is no part of a game's record")
    text = dumps(event)
    if loads(text) != event:
        raise _unreadable(event)
    return (text, catalogued(event)), [*map(type, event.__dict__.values())]


def _unreadable(event: Event) -> MalformedRecord:
    return MalformedRecord(f"{quoted(event)} could not be read again as it is")


def catalogued(event: Event) -> Change | None:
    """Return what the list of games must know of an event: a column, and its value."""
    match event:
        case PlayerJoined(mark, name):
            return mark.value.lower(), name
        case GameWon(mark):
            return "result", mark.value
        case GameDraw():
            return "result", DRAW
        case _:
            return None


def stale(append: Append, version: int) -> StaleVersion:
    """Return the refusal of an append that comes too late, or too early."""
    return StaleVersion(
        f"game {append.game} is at version {version}, not at {append.expected}: nothing was recorded"
    )
