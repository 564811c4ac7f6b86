"""Errors of bots, programs and their files."""

from __future__ import annotations

from noughts.core.errors import NoughtsError


class PolicyError(NoughtsError):
    """A bot that cannot play."""


class UnknownPolicy(PolicyError):
    """No bot has that name or that parameter."""


class BadPolicy(PolicyError):
    """A bot that fails, or does not return a chance for each free cell."""


class BotResigned(NoughtsError):
    """A bot was asked for a move, and resigned."""


class Forfeit(NoughtsError):
    """A program did anything other than make a legal move, and so lost."""


class CannotStartProgram(NoughtsError):
    """The system can't start another process now: not a forfeit."""

    exit_code = 1


class NotAMachine(NoughtsError):
    """A file that is not a MENACE; it was not changed."""


class NotAPolicy(NoughtsError):
    """A file that is not a policy."""


def is_signal(error: BaseException) -> bool:
    """Return whether a signal has come: `cli/exit.py` raises a `SystemExit` of its own for SIGTERM."""
    return isinstance(error, SystemExit) and type(error) is not SystemExit
