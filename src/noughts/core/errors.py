"""Errors of the rules and the records, and how to quote what was given.

`noughts.errors` draws the whole tree.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar


class IllegalMoveReason(Enum):
    """Why a token may not be placed, in the order in which it is looked for."""

    GAME_OVER = "gameOver"
    NO_SUCH_CELL = "noSuchCell"
    NOT_YOUR_TURN = "notYourTurn"
    CELL_TAKEN = "cellTaken"

    def __str__(self) -> str:
        return self.value


class NoughtsError(Exception):
    """Something was refused; the message is a sentence that says what and why."""

    exit_code: ClassVar[int] = 2
    """How the command ends: 2 for bad usage or input, 1 if something else went wrong."""


class IllegalMove(NoughtsError):
    """A token may not be placed there now."""

    reason: ClassVar[IllegalMoveReason]


class GameOver(IllegalMove):
    """The game has ended, so no token may be placed."""

    reason = IllegalMoveReason.GAME_OVER


class NoSuchCell(IllegalMove):
    """The board has nine cells, and this is none of them."""

    reason = IllegalMoveReason.NO_SUCH_CELL


class NotYourTurn(IllegalMove):
    """The other mark is to move."""

    reason = IllegalMoveReason.NOT_YOUR_TURN


class CellTaken(IllegalMove):
    """The cell holds a mark already."""

    reason = IllegalMoveReason.CELL_TAKEN


class CommandRefused(NoughtsError):
    """A command that makes no sense in the state of the game."""


class NotCreated(CommandRefused):
    """There is no game yet."""


class AlreadyCreated(CommandRefused):
    """The game was created before."""


class AlreadyOver(CommandRefused):
    """The game has ended, so it can be neither resigned nor taken back."""


class NotOver(CommandRefused):
    """The game is still being played, and only a finished one will do."""


class SeatTaken(CommandRefused):
    """Somebody sits there already."""


class NothingToTakeBack(CommandRefused):
    """That player has no token on the board."""


class InvalidName(NoughtsError):
    """A name that cannot be shown, or is the other player's."""


class InvalidArgument(NoughtsError, TypeError):
    """Something that is not of the kind that belongs there: a mark, a symmetry, a command, an event."""


class NotationError(NoughtsError):
    """Text that cannot be read."""


class UnreadableBoard(NotationError):
    """A board of the wrong size, or with a sign that is no mark."""


class ImpossibleBoard(NotationError):
    """A board that no game leads to."""


class WrongCounts(ImpossibleBoard):
    """One mark has moved too often."""


class TwoWinners(ImpossibleBoard):
    """Both marks have a line."""


class MoveAfterEnd(ImpossibleBoard):
    """The loser has moved after the win."""


class UnreadableCell(NotationError):
    """Text that names no cell."""


class UnreadableMoves(NotationError):
    """Digits that are no game."""


class RecordError(NoughtsError):
    """A written event or record that cannot be taken."""


class MalformedRecord(RecordError):
    """Not the written form of an event."""


class UnknownEvent(RecordError):
    """An event whose name or schema version this program does not know."""


class ImpossibleHistory(RecordError):
    """Events that no game can have produced in that order."""


class BrokenChain(RecordError):
    """A record whose hash does not follow from what stands before it."""


class NotInstalled(NoughtsError):
    """A part of noughts that needs packages which are not installed."""


JOINERS = "\u200c\u200d"
"""Zero width non-joiner and zero width joiner."""


def quoted(value: object) -> str:
    r"""Show what was given, on one line, short, and safe to print wherever it came from.

    >>> quoted("\x1b[2J")
    "'\\x1b[2J'"
    >>> quoted("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'"
    """
    if isinstance(value, str):
        return repr(value if len(value) <= 32 else value[:32] + "…")
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number that long"  # Python itself refuses to print an integer of 4,301 digits
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whatever a stranger's repr does, a sentence is owed
        return f"a {type(value).__name__}"
    return text if len(text) <= 34 and text.isprintable() else f"a {type(value).__name__}"


def complaint(error: BaseException) -> str:
    r"""Tell a stranger's error, on one line, short, and safe to print.

    >>> complaint(ValueError("no\x1b[2J"))
    'ValueError: no\\x1b[2J'
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the same
        text = ""
    return f"{type(error).__name__}: {repr(text[:200])[1:-1]}" if text else type(error).__name__


def printable(text: str) -> str:
    r"""Escape what a terminal would obey instead of showing it.

    The two joiners stay: they are part of how Persian, Sinhala and emoji are written, and move nothing.

    >>> printable("no\x1b[2J")
    'no\\x1b[2J'
    """
    return "".join(sign if sign.isprintable() or sign in JOINERS else ascii(sign)[1:-1] for sign in text)
