"""What a store refuses, and what goes wrong in one."""

from __future__ import annotations

from noughts.core.errors import NoughtsError


class StaleVersion(NoughtsError):
    """The game has another version than the one that was expected: nothing was recorded."""


class KeyReused(NoughtsError):
    """One key stands for one command, and this is another one."""


class InvalidId(NoughtsError):
    """An id has 1 to 64 letters, digits, hyphens and underscores."""


class NoSuchGame(NoughtsError):
    """The store has no such game, or more than one of which that could be the beginning."""


class StoreError(NoughtsError):
    """Games cannot be saved or read."""

    exit_code = 1


class UnknownStore(StoreError):
    """A URL that names no store."""

    exit_code = 2


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
