"""Every refusal, in one tree.

NoughtsError
├── IllegalMove             a token that may not be placed; `reason` says why
│   ├── GameOver
│   ├── NoSuchCell
│   ├── NotYourTurn
│   └── CellTaken
├── CommandRefused          any other command that makes no sense now
│   ├── NotCreated
│   ├── AlreadyCreated
│   ├── AlreadyOver
│   ├── NotOver
│   ├── SeatTaken
│   └── NothingToTakeBack
├── InvalidName
├── InvalidArgument         not a mark, a command, an event, …; a TypeError too
├── NotationError           text that says no board, cell or list of moves
│   ├── UnreadableBoard
│   ├── ImpossibleBoard     well written, but no game leads there
│   │   ├── WrongCounts
│   │   ├── TwoWinners
│   │   └── MoveAfterEnd
│   ├── UnreadableCell
│   └── UnreadableMoves
├── RecordError             a written event or record that cannot be taken
│   ├── MalformedRecord
│   ├── UnknownEvent
│   ├── ImpossibleHistory
│   └── BrokenChain         well written, but not what was recorded there
├── PolicyError             a bot that cannot play
│   ├── UnknownPolicy       no bot has that name, or takes that parameter
│   └── BadPolicy           what it gives is no chance for each free cell
├── Forfeit                 a program that lost by what it did, or by what it did not
├── NotAMachine             a file that holds no MENACE
├── NotAPolicy              a file that holds no policy
├── BadArray                an array that is no batch of games, or of actions
├── BadFormat               a file that is to be written in no form that there is
├── NoTournament            bots that cannot meet
├── NotInstalled            a part whose packages are not there
├── BadSetting              a setting that cannot be
├── StaleVersion            somebody else has recorded something first
├── KeyReused               a key that was used for another command
├── InvalidId               no name for a game or a command
├── NoSuchGame
└── StoreError              games cannot be kept or read
    ├── UnknownStore        a URL that names no store
    ├── StoreMissing        there is nothing where it should be
    ├── StoreUnavailable    not now: a full disk, a lock, a server that is down
    ├── StoreLost           the file of an open store was moved, replaced or cut short
    ├── NotAStore           something else, or made by a newer noughts; left untouched
    │   └── OldStore        made by a version whose format is no longer read
    └── CorruptStore        what was recorded has changed since
"""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Reason(Enum):
    """Why a token may not be placed, in the order in which it is looked for."""

    GAME_OVER = "gameOver"
    NO_SUCH_CELL = "noSuchCell"
    NOT_YOUR_TURN = "notYourTurn"
    CELL_TAKEN = "cellTaken"

    def __str__(self) -> str:
        return self.value


class NoughtsError(Exception):
    """Something was refused; the message is a sentence that says what and why."""


class IllegalMove(NoughtsError):
    """A token may not be placed there now."""

    reason: ClassVar[Reason]


class GameOver(IllegalMove):
    """The game has ended, so no token may be placed."""

    reason = Reason.GAME_OVER


class NoSuchCell(IllegalMove):
    """The board has nine cells, and this is none of them."""

    reason = Reason.NO_SUCH_CELL


class NotYourTurn(IllegalMove):
    """The other mark is to move."""

    reason = Reason.NOT_YOUR_TURN


class CellTaken(IllegalMove):
    """The cell holds a mark already."""

    reason = Reason.CELL_TAKEN


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


class PolicyError(NoughtsError):
    """A bot that cannot play."""


class UnknownPolicy(PolicyError):
    """No bot has that name, or it takes no such parameter."""


class BadPolicy(PolicyError):
    """What a bot gives is no chance for each free cell, or it gives nothing."""


class Forfeit(NoughtsError):
    """A program crashed, kept silent, spoke garbage or moved illegally, and so lost."""


class NotAMachine(NoughtsError):
    """A file that cannot be read as a MENACE; it was left untouched."""


class NotAPolicy(NoughtsError):
    """A file that cannot be read as a policy."""


class BadArray(NoughtsError):
    """An array that is no batch of games, or of actions for it."""


class BadFormat(NoughtsError):
    """A form in which something cannot be written, or not there."""


class NoTournament(NoughtsError):
    """Bots that cannot meet, or more games than can be counted."""


class NotInstalled(NoughtsError):
    """A part of noughts that needs packages which are not installed."""


class BadSetting(NoughtsError):
    """A setting that cannot be."""


class StaleVersion(NoughtsError):
    """The game has another version than the one that was expected: nothing was recorded."""


class KeyReused(NoughtsError):
    """One key stands for one command, and this is another one."""


class InvalidId(NoughtsError):
    """An id has 1 to 64 letters, digits, hyphens and underscores."""


class NoSuchGame(NoughtsError):
    """The store has no such game, or more than one of which that could be the beginning."""


class StoreError(NoughtsError):
    """Games cannot be kept or read."""


class UnknownStore(StoreError):
    """A URL that names no store."""


class StoreMissing(StoreError):
    """There is no store there, and none was to be made."""


class StoreUnavailable(StoreError):
    """The store cannot be opened, read or written now."""


class StoreLost(StoreError):
    """The file of an open store was moved, replaced or cut short: the store has to be opened again."""


class NotAStore(StoreError):
    """Not a store of this program, or one made by a newer version; it was left untouched."""


class OldStore(NotAStore):
    """A store in a format that is no longer read: export it with the version that wrote it."""


class CorruptStore(StoreError):
    """What was recorded has changed since: the message names the first bad record."""


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
