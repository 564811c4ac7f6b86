"""The events of a game.

The first ten are those of the documents (docs/specification.md, E1). The last three are an extension:
`playerJoined`, `playerResigned`, `playerTookBack`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from noughts.core.board import AnyMark, Mark, as_mark
from noughts.core.errors import IllegalMoveReason, InvalidArgument, printable, quoted
from noughts.core.value import Value


class EventBase(Value):
    @classmethod
    def kind(cls) -> str:
        """Return the name of the event in the documents.

        >>> GameCreated.kind()
        'gameCreated'
        """
        return cls.__name__[0].lower() + cls.__name__[1:]

    def __str__(self) -> str:
        """Return the event as the documents write it, with control characters escaped.

        >>> str(PlayerPlacedToken(0, 2, Mark.X))
        'playerPlacedToken(0,2,X)'
        """
        return f"{self.kind()}({','.join(map(_written, self.__dict__.values()))})"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else printable(str(value))


class GameCreated(EventBase):
    """A new game starts, and `first` will move first."""

    first: Mark = Mark.X

    def __init__(self, first: AnyMark = Mark.X) -> None:
        self.__dict__.update(first=as_mark(first))


class GameReady(EventBase):
    """Both seats are taken."""


class PlayerActive(EventBase):
    """It is this mark's turn."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


class PlayerPlacedToken(EventBase):
    """A token was placed; rows and columns are 0 to 2 from the top left."""

    row: int
    column: int
    mark: Mark

    def __init__(self, row: int, column: int, mark: AnyMark) -> None:
        self.__dict__.update(row=row, column=column, mark=as_mark(mark))


class GamePlacedCount(EventBase):
    """The number of tokens on the board."""

    count: int


class PlayerNotifyIllegalMove(EventBase):
    """A token was refused: for that player only, and not part of the game's record."""

    mark: Mark
    reason: IllegalMoveReason

    def __init__(self, mark: AnyMark, reason: IllegalMoveReason) -> None:
        self.__dict__.update(mark=as_mark(mark), reason=reason)


class GameWon(EventBase):
    """This mark has won."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


class GameLost(EventBase):
    """This mark has lost."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


class GameDraw(EventBase):
    """The board is full without a line."""


class GameCompleted(EventBase):
    """No further moves are allowed."""

    completed: bool = True


class PlayerJoined(EventBase):
    """A player takes a seat."""

    mark: Mark
    name: str

    def __init__(self, mark: AnyMark, name: str) -> None:
        self.__dict__.update(mark=as_mark(mark), name=name)


class PlayerResigned(EventBase):
    """This mark resigns."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


class PlayerTookBack(EventBase):
    """This mark's last token, and the answer to it if there was one, are taken back."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


Event: TypeAlias = (
    GameCreated
    | GameReady
    | PlayerActive
    | PlayerPlacedToken
    | GamePlacedCount
    | PlayerNotifyIllegalMove
    | GameWon
    | GameLost
    | GameDraw
    | GameCompleted
    | PlayerJoined
    | PlayerResigned
    | PlayerTookBack
)


def facts(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the game's record: all events except those for one player only."""
    history = events if events.__class__ is tuple else tuple(each_event(events))
    if PlayerNotifyIllegalMove not in map(type, history):
        return history
    return tuple(event for event in history if not isinstance(event, PlayerNotifyIllegalMove))


def each_event(events: Iterable[Event]) -> Iterator[Event]:
    """Iterate over events, or refuse what is not iterable."""
    try:
        return iter(events)
    except TypeError:
        raise InvalidArgument(f"a history is a list of events, not {quoted(events)}") from None
