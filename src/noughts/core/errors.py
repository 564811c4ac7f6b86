"""Errors of the rules and the records, how to quote what was given, and what may have been meant.

`noughts.errors` draws the whole tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import ClassVar


class IllegalMoveReason(Enum):
    """Why a token may not be placed, in the order of the checks."""

    GAME_OVER = "gameOver"
    NO_SUCH_CELL = "noSuchCell"
    CELL_TAKEN = "cellTaken"
    NOT_YOUR_TURN = "notYourTurn"

    def __str__(self) -> str:
        return self.value


class NoughtsError(Exception):
    """The base class; the message says what was refused and why."""

    exit_code: ClassVar[int] = 2
    """Of the command: 2 for bad usage or input, 1 for other errors."""


class IllegalMove(NoughtsError):
    """A token may not be placed there now."""

    reason: ClassVar[IllegalMoveReason]


class GameOver(IllegalMove):
    """The game has ended."""

    reason = IllegalMoveReason.GAME_OVER


class NoSuchCell(IllegalMove):
    """Cells are 0 to 8."""

    reason = IllegalMoveReason.NO_SUCH_CELL


class CellTaken(IllegalMove):
    """The cell already has a mark."""

    reason = IllegalMoveReason.CELL_TAKEN


class NotYourTurn(IllegalMove):
    """The other mark is to move."""

    reason = IllegalMoveReason.NOT_YOUR_TURN


class CommandRefused(NoughtsError):
    """A command that makes no sense in the state of the game."""


class NotCreated(CommandRefused):
    """The game does not exist yet."""


class AlreadyCreated(CommandRefused):
    """The game exists already."""


class AlreadyOver(CommandRefused):
    """The game has ended, so nobody can resign, take back or join."""


class NotOver(CommandRefused):
    """The game must be finished first."""


class SeatTaken(CommandRefused):
    """The seat has a player already."""


class NothingToTakeBack(CommandRefused):
    """The player has no token on the board."""


class TooLong(CommandRefused):
    """The game's record is so long that nothing more can be taken back."""


class InvalidName(NoughtsError):
    """A name that cannot be shown, or is the other player's."""


class InvalidArgument(NoughtsError, TypeError):
    """A value of the wrong type: not a board, a mark, a symmetry, a command, an event."""


class NotationError(NoughtsError):
    """Text that cannot be read."""


class UnreadableBoard(NotationError):
    """A board of the wrong size, or with an unknown sign."""


class ImpossibleBoard(NotationError):
    """A board that no game reaches."""


class WrongCounts(ImpossibleBoard):
    """One mark has moved too often."""


class TwoWinners(ImpossibleBoard):
    """Both marks have a line."""


class MoveAfterEnd(ImpossibleBoard):
    """The loser has moved after the win."""


class UnreadableCell(NotationError):
    """Text that is not a cell."""


class UnreadableMoves(NotationError):
    """Digits that are not a game."""


class RecordError(NoughtsError):
    """A written event or record that is refused."""


class MalformedRecord(RecordError):
    """Data that is not an event."""


class UnknownEvent(RecordError):
    """An event with an unknown name or schema version."""


class ImpossibleHistory(RecordError):
    """Events that no game can have produced in that order."""


class NotInstalled(NoughtsError):
    """A part of noughts whose packages are not installed."""


JOINERS = "\u200c\u200d"
"""Zero width non-joiner and zero width joiner."""


def quoted(value: object) -> str:
    r"""Show a value on one short line that is safe to print.

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
    except Exception:  # noqa: BLE001 - any repr may fail
        return f"a {type(value).__name__}"
    return text if len(text) <= 34 and text.isprintable() else f"a {type(value).__name__}"


def complaint(error: BaseException) -> str:
    r"""Show an error on one short line that is safe to print.

    >>> complaint(ValueError("no\x1b[2J"))
    'ValueError: no\\x1b[2J'
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - any str may fail
        text = ""
    return f"{type(error).__name__}: {repr(text[:200])[1:-1]}" if text else type(error).__name__


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the question whether the most similar known word was meant, to be put behind a refusal.

    >>> did_you_mean("Prefect", ["random", "perfect"]), did_you_mean("tiger", ["random", "perfect"])
    (' (did you mean perfect?)', '')
    """
    found = most_similar(word, known)
    return f" (did you mean {found}?)" if found else ""


def most_similar(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, if any is similar enough."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow, and needed only for a refusal

    return next(iter(get_close_matches(word.lower(), known)), None)


def printable(text: str) -> str:
    r"""Escape control characters.

    The two joiners stay: Persian, Sinhala and emoji need them, and they do not move the cursor.

    >>> printable("no\x1b[2J")
    'no\\x1b[2J'
    """
    return "".join(sign if sign.isprintable() or sign in JOINERS else ascii(sign)[1:-1] for sign in text)
