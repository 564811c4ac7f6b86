"""The lab's errors."""

from __future__ import annotations

from noughts.core.errors import NoughtsError


class BadArray(NoughtsError):
    """An array that is not a batch of games, or not a batch of actions for it."""


class BadFormat(NoughtsError):
    """An unknown file format, or one that does not fit the destination."""


class NoTournament(NoughtsError):
    """Bots that cannot play each other, or too many games."""


class BadSetting(NoughtsError):
    """An invalid setting."""
