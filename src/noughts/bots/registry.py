"""Bots as policies: a board goes in, a chance for each free cell comes out.

Whoever wants a move draws from it (`Bot`); whoever wants to know how strong it is computes that exactly,
with no game played (`odds`). A policy that gives no cell a chance resigns.

One is asked for by name, with parameters if it takes some: `perfect`, `club:block=1/3,win=0`. Other
packages offer theirs as entry points in the group `noughts.policies`: each names a function that takes
the parameters, as text, by name, and returns a policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from noughts.analysis.best_moves import perfect_cells
from noughts.bots.errors import BadPolicy, UnknownPolicy
from noughts.bots.ladder import LADDER, evenly, newell_simon, person
from noughts.bots.policy import Policy
from noughts.core.board import Board, Cell
from noughts.core.errors import NoughtsError, complaint, quoted

Maker: TypeAlias = Callable[..., Policy]
"""From parameters, as text, by name, to a policy."""

GROUP = "noughts.policies"

_CHANCE = re.compile(r"\d{1,9}/(?!0+$)\d{1,9}|\d{1,9}(\.\d{1,9})?", re.ASCII)


def random(board: Board) -> Mapping[Cell, Fraction]:
    """Leave it to chance."""
    return evenly(board.free_cells)


def perfect(board: Board) -> Mapping[Cell, Fraction]:
    """Play a best move; break ties by the expected result against an opponent who moves at random."""
    return evenly(perfect_cells(board))


def find_policy(asked: str) -> Policy:
    """Return the policy of that name, with those parameters.

    >>> from noughts.core.board import Board
    >>> find_policy("perfect")(Board().place(0))
    {4: Fraction(1, 1)}
    >>> find_policy("club:luck=1")
    Traceback (most recent call last):
    noughts.bots.errors.UnknownPolicy: club has no 'luck': it has win, block, fork, defence and centre
    """
    if not isinstance(asked, str):
        raise UnknownPolicy(f"a policy is found by its name, not by {quoted(asked)}")
    name, colon, rest = asked.partition(":")
    parameters = read_parameters(rest) if colon else {}
    if name in BUILT_IN:
        return BUILT_IN[name](**parameters)
    return _from_elsewhere(name, parameters)


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies there are: those built in, then those of other packages."""
    return (*BUILT_IN, *sorted({entry.name for entry in _entries()} - {*BUILT_IN}))


def built_in_parameters(name: str) -> tuple[str, ...]:
    """Return the parameters that a built-in policy takes.

    >>> built_in_parameters("club"), built_in_parameters("perfect")
    (('win', 'block', 'fork', 'defence', 'centre'), ())
    """
    if name == "menace":
        from noughts.bots.menace.machine import BeadRules  # noqa: PLC0415 - only who asks for it loads it

        return BeadRules.__match_args__
    return LADDER[name].__match_args__ if name in LADDER else ()


def read_chance(text: str) -> Fraction:
    """Read a chance, as a fraction or a decimal number.

    >>> read_chance("1/3"), read_chance("0.25")
    (Fraction(1, 3), Fraction(1, 4))
    """
    if not _CHANCE.fullmatch(text) or (chance := Fraction(text)) > 1:
        raise UnknownPolicy(f"{quoted(text)} is no chance: it is 0 to 1, such as 1/3 or 0.25")
    return chance


def read_parameters(text: str) -> dict[str, str]:
    """Read parameters and their values.

    >>> read_parameters("block=1/3,win=0")
    {'block': '1/3', 'win': '0'}
    """
    parameters: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals):
            raise UnknownPolicy(f"{quoted(part)} is no parameter: they are written NAME=VALUE,NAME=VALUE")
        if key in parameters:
            raise UnknownPolicy(f"the parameter {quoted(key)} is given twice")
        parameters[key] = value
    return parameters


def check_parameters(policy: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Refuse a parameter that a policy does not have."""
    for strange in given:
        if strange not in known:
            *most, last = known or ("no parameters",)
            has = f"{', '.join(most)} and {last}" if most else last
            raise UnknownPolicy(f"{policy} has no {quoted(strange)}: it has {has}")


def _plain(name: str, policy: Policy) -> Maker:
    """Offer a policy that takes no parameters."""

    def make(**parameters: str) -> Policy:
        check_parameters(name, parameters, ())
        return policy

    return make


def _rung(name: str) -> Maker:
    """Offer a rung of the ladder, whose chances of overlooking things may be told otherwise."""

    def make(**parameters: str) -> Policy:
        attention = LADDER[name]
        check_parameters(name, parameters, attention.__match_args__)
        chances = {key: read_chance(text) for key, text in parameters.items()}
        return person(attention.replace(**chances))

    return make


def _menace(**parameters: str) -> Policy:
    from noughts.bots.menace.machine import menace_policy  # noqa: PLC0415 - only who asks for it loads it

    return menace_policy(**parameters)


BUILT_IN: dict[str, Maker] = {
    "random": _plain("random", random),
    **{name: _rung(name) for name in LADDER},
    "newell-simon": _plain("newell-simon", newell_simon()),
    "perfect": _plain("perfect", perfect),
    "menace": _menace,
}


def _entries() -> tuple[Any, ...]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and seldom needed

    return tuple(entry_points(group=GROUP))


def _from_elsewhere(name: str, parameters: dict[str, str]) -> Policy:
    """Return a policy that another package offers."""
    entry = next((entry for entry in _entries() if entry.name == name), None)
    if entry is None:
        raise UnknownPolicy(f"there is no policy {quoted(name)}: there are {', '.join(policy_names())}")
    try:
        made = entry.load()(**parameters)
    except NoughtsError:
        raise
    except (Exception, SystemExit) as error:  # whatever a stranger's package does, a sentence is owed
        raise BadPolicy(
            f"the policy {quoted(name)} of {entry.value} cannot be made: {complaint(error)}"
        ) from error
    if not callable(made):
        raise BadPolicy(
            f"the policy {quoted(name)} of {entry.value} is no function from boards to chances"
        )
    return made  # type: ignore[no-any-return]  # what it gives is checked when it gives it
