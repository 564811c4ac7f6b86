"""Whom a learner plays against, and with which mark; every environment refuses the same."""

from __future__ import annotations

from noughts.bots.errors import BadPolicy, UnknownPolicy
from noughts.bots.policy import CachedPolicy, Policy, weigh
from noughts.bots.registry import SAVED, find_policy, policy_names
from noughts.core.board import Board, O, X
from noughts.core.errors import quoted
from noughts.lab.errors import BadSetting

EITHER = "either"
MARKS = {"X": (X,), "O": (O,), EITHER: (X, O)}
"""What a learner can ask for, and the marks that it may then have."""


class Named(CachedPolicy):
    """A policy with a name, which is thought about once for each board.

    Copied or sent to another process, it is found by its name again: what a policy is made of can often
    not be sent.
    """

    def __init__(self, name: str) -> None:
        super().__init__(find_policy(name))
        self._name = name

    def __reduce__(self) -> tuple[type[Named], tuple[str]]:
        return Named, (self._name,)


def find_opponent(asked: object) -> Policy:
    """Return a policy for its name, or for itself.

    One with a name is thought about once for each board; a function is checked when it is asked.
    """
    if isinstance(asked, str):
        if asked.partition(":")[0] == SAVED and SAVED not in policy_names():
            raise UnknownPolicy(
                f"no name opens a file: an opponent in a file is noughts.load_policy(PATH), "
                f"not {quoted(asked)}"
            )
        return Named(asked)
    if not callable(asked):
        raise UnknownPolicy(
            f"an opponent is a policy's name or a function from boards to chances, not {quoted(asked)}"
        )
    return asked


def check_mark(asked: object) -> str:
    """Return the name of a mark that a learner can have, also for the mark itself."""
    name = str(asked)
    if name not in MARKS:
        raise BadSetting(f"a mark is {', '.join(MARKS)}, not {quoted(asked)}")
    return name


def check_it_starts(policy: Policy) -> None:
    """Refuse a policy that resigns before the first move: all there is of its games is their end."""
    if not weigh(policy, Board()).total:
        raise BadPolicy("an opponent that resigns before the first move leaves a learner nothing to play")
