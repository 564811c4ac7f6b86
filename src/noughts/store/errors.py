"""The errors of stores."""

from __future__ import annotations

from noughts.core.errors import NoughtsError


class StaleVersion(NoughtsError):
    """The game has changed since it was read; nothing was recorded."""


class KeyReused(NoughtsError):
    """The key was used for another command."""


class InvalidId(NoughtsError):
    """An id has 1 to 64 letters, digits, hyphens and underscores."""


class NoSuchGame(NoughtsError):
    """No game has that id, or several games' ids begin with it."""


class WebGame(NoughtsError):
    """A game of the server, which nobody plays in a terminal."""


class StoreError(NoughtsError):
    """Games cannot be saved or read."""

    exit_code = 1


class UnknownStore(StoreError):
    """Not the URL of a store."""

    exit_code = 2


class StoreMissing(StoreError):
    """The store doesn't exist, and was not to be created."""


class StoreUnavailable(StoreError):
    """The store cannot be opened, read or written now."""


class StoreLost(StoreError):
    """The file of an open store was moved, replaced or cut short: open the store again."""


class NotAStore(StoreError):
    """Not a store, or one made by another version; it was left untouched."""


class CorruptStore(StoreError):
    """The store is damaged; the message names the first bad game."""
