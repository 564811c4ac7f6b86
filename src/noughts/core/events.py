"""The language a game is told in, as frozen values.

The first ten events are the language of the documents (docs/specification.md, E1). The last three are
an extension for what the documents leave out: `playerJoined`, `playerResigned`, `playerTookBack`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from noughts.core.board import Mark
from noughts.core.errors import IllegalMoveReason, InvalidArgument, printable, quoted
from noughts.core.value import Value


class EventBase(Value):
    """What all events share: the name that the documents give them."""

    @classmethod
    def kind(cls) -> str:
        """Return the name the event has when it is written down.

        >>> GameCreated.kind()
        'gameCreated'
        """
        return cls.__name__[0].lower() + cls.__name__[1:]

    def __str__(self) -> str:
        """Return the event as the documents write it; what a terminal would obey is escaped.

        >>> str(PlayerPlacedToken(0, 2, Mark.X))
        'playerPlacedToken(0,2,X)'
        """
        told = ("true" if value is True else printable(str(value)) for value in self.__dict__.values())
        return f"{self.kind()}({','.join(told)})"


class GameCreated(EventBase):
    """A new game starts, and `first` will move first."""

    first: Mark = Mark.X


class GameReady(EventBase):
    """Both seats are taken."""


class PlayerActive(EventBase):
    """It is this mark's turn."""

    mark: Mark


class PlayerPlacedToken(EventBase):
    """A mark was placed; rows and columns count 0 to 2 from the top left."""

    row: int
    column: int
    mark: Mark


class GamePlacedCount(EventBase):
    """So many tokens lie on the board now."""

    count: int


class PlayerNotifyIllegalMove(EventBase):
    """A token was refused: a word to that player alone, and no part of the game's record."""

    mark: Mark
    reason: IllegalMoveReason


class GameWon(EventBase):
    """This mark has won."""

    mark: Mark


class GameLost(EventBase):
    """This mark has lost."""

    mark: Mark


class GameDraw(EventBase):
    """Nine tokens lie and nobody has a line."""


class GameCompleted(EventBase):
    """No further moves are allowed."""

    completed: bool = True


class PlayerJoined(EventBase):
    """A name takes a seat."""

    mark: Mark
    name: str


class PlayerResigned(EventBase):
    """This mark gives the game up."""

    mark: Mark


class PlayerTookBack(EventBase):
    """This mark's last token, and the answer to it if there was one, are taken back."""

    mark: Mark


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
    """Leave out what is said to one player alone: the rest is the game's record."""
    history = events if events.__class__ is tuple else tuple(each_event(events))
    if PlayerNotifyIllegalMove not in map(type, history):
        return history
    return tuple(event for event in history if not isinstance(event, PlayerNotifyIllegalMove))


def each_event(events: Iterable[Event]) -> Iterator[Event]:
    """Return an iterator over events, or refuse what is not a list of them."""
    try:
        return iter(events)
    except TypeError:
        raise InvalidArgument(f"a history is a list of events, not {quoted(events)}") from None
