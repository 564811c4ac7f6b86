"""What the lab refuses."""

from __future__ import annotations

from noughts.core.errors import NoughtsError


class BadArray(NoughtsError):
    """An array that is no batch of games, or of actions for it."""


class BadFormat(NoughtsError):
    """A form in which something cannot be written, or not there."""


class NoTournament(NoughtsError):
    """Bots that cannot meet, or more games than can be counted."""


class BadSetting(NoughtsError):
    """A setting that cannot be."""
