"""What is wrong with a bot, a program or a saved file of one."""

from __future__ import annotations

from noughts.core.errors import NoughtsError


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
