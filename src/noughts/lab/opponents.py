"""A learner's opponent and mark, checked alike by every environment."""

from __future__ import annotations

from noughts.bots.errors import UnknownPolicy
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.registry import SAVED, find_policy, policy_names
from noughts.core.board import O, X
from noughts.core.errors import quoted
from noughts.lab.errors import BadSetting

EITHER = "either"
MARKS = {"X": (X,), "O": (O,), EITHER: (X, O)}
"""The settings of `mark`, and the marks that a learner may then have."""


class NamedPolicy(CachedPolicy):
    """A policy with a name, queried once for each board.

    It is pickled by its name, as the policy itself often cannot be pickled.
    """

    def __init__(self, name: str) -> None:
        super().__init__(find_policy(name))
        self._name = name

    def __reduce__(self) -> tuple[type[NamedPolicy], tuple[str]]:
        return NamedPolicy, (self._name,)


def find_opponent(opponent: object) -> Policy:
    """Return a policy by name, or a function as it is."""
    if isinstance(opponent, str):
        if opponent.partition(":")[0] == SAVED and SAVED not in policy_names():
            raise UnknownPolicy(
                f"an opponent in a file is noughts.load_policy(PATH), not the name {quoted(opponent)}"
            )
        return NamedPolicy(opponent)
    if not callable(opponent):
        raise UnknownPolicy(
            f"an opponent is the name of a policy or a function from boards to chances, "
            f"not {quoted(opponent)}"
        )
    return opponent


def check_mark(mark: object) -> str:
    """Return the name of a mark, or `either`; a `Mark` is accepted too."""
    name = str(mark)
    if name not in MARKS:
        raise BadSetting(f"a mark is {', '.join(MARKS)}, not {quoted(mark)}")
    return name
