"""A policy as a JSON file, which lists what it does in every position.

Each unfinished position of a game that X starts has whole numbers for cells: their weights, whose shares
of the sum are the chances. Without weights the policy resigns. In a game that O starts the marks are
swapped first.
"""

from __future__ import annotations

from functools import cache
from math import gcd
from pathlib import Path

from noughts.analysis.solver import sides
from noughts.bots.errors import BadPolicy, NotAPolicy
from noughts.bots.policy import RESIGNS, ExactPolicy, Policy, Weights, weigh
from noughts.bots.registry import as_policy
from noughts.core.board import Board, Cell, reachable
from noughts.core.errors import quoted
from noughts.core.notation import format_cell
from noughts.files import JsonFormat, JsonObject, replace_file

SCHEMA = 1
MAX_WEIGHT = 10**15
"""JSON readers of all languages read integers of that size exactly."""

_CELLS = {format_cell(cell): cell for cell in range(9)}
_FORMAT = JsonFormat("policy", SCHEMA, ("weights",), NotAPolicy)


class SavedPolicy(ExactPolicy):
    def __init__(self, known: dict[tuple[int, int], Weights]) -> None:
        self._known = known

    def weights(self, board: Board) -> Weights:
        return self._known.get(sides(board), RESIGNS)


def save_policy(policy: Policy | str, path: Path | str) -> None:
    """Write what a policy does in every position to a file, and sync it to the disk.

    A missing folder is an error: it is more likely a typing mistake than intended.
    """
    policy = as_policy(policy)
    lines = [_line(board, weigh(policy, board)) for board in _positions().values()]
    replace_file(path, f'{{"policy":{SCHEMA},"weights":{{\n' + ",\n".join(lines) + "\n}}\n")


def load_policy(path: Path | str) -> Policy:
    """Read a policy from its file; anything else is refused."""
    return _FORMAT.load(path, _policy)


@cache
def _positions() -> dict[str, Board]:
    return {str(board): board for board in reachable() if not board.is_over}


def _line(board: Board, weights: Weights) -> str:
    common = gcd(*weights.shares)
    shares = sorted(zip(weights.cells, weights.shares, strict=True))
    if any(share > MAX_WEIGHT * common for _, share in shares):
        raise BadPolicy(
            f"the chances in '{board}' are too fine for a file: weights go up to {MAX_WEIGHT:,}"
        )
    written = ",".join([f'"{format_cell(cell)}":{share // common}' for cell, share in shares])
    return f'"{board}":{{{written}}}'


def _policy(written: JsonObject) -> SavedPolicy:
    table, boards = written.get("weights"), _positions()
    if not isinstance(table, dict):
        raise NotAPolicy('it has no weights, such as {"___/___/___": {"1": 2, "5": 1}, …}')
    if strange := [position for position in table if position not in boards]:
        raise NotAPolicy(
            f"{quoted(strange[0])} is not an unfinished position of a game that X starts, "
            "such as 'X_O/_X_/___'"
        )
    if missing := [position for position in boards if position not in table]:
        raise NotAPolicy(
            f"'{missing[0]}' is missing: there are {len(boards):,} positions; write {{}} to resign"
        )
    return SavedPolicy(
        {sides(board): _weights(board, table[position]) for position, board in boards.items()}
    )


def _weights(board: Board, written: object) -> Weights:
    if not isinstance(written, dict):
        raise NotAPolicy(f"'{board}' has {quoted(written)} instead of weights, such as {{\"5\": 1}}")
    shares: dict[Cell, int] = {}
    for name, weight in written.items():
        cell = _CELLS.get(name)
        if cell is None or cell not in board.free_cells:
            raise NotAPolicy(f"'{board}' has {quoted(name)}, which is not a free cell from 1 to 9")
        if type(weight) is not int or not 0 <= weight <= MAX_WEIGHT:
            raise NotAPolicy(
                f"'{board}' has {quoted(weight)}, which is not a number from 0 to {MAX_WEIGHT:,}"
            )
        if weight:
            shares[cell] = weight
    if written and not shares:
        raise NotAPolicy(f"'{board}' has no weight above 0: write {{}} to resign")
    cells = tuple(sorted(shares))
    return Weights(cells, tuple(shares[cell] for cell in cells), sum(shares.values()))
