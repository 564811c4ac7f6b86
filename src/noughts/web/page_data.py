"""What the page needs from the library: the levels, the chances of their bots, and the sentences."""

from __future__ import annotations

from functools import cache

import msgspec

from noughts.analysis.coach import judge_move
from noughts.analysis.solver import prospect, prospects
from noughts.bots.policy import Policy, weigh
from noughts.bots.registry import LEVELS, find_policy
from noughts.core.board import SYMMETRIES, Board, Cell
from noughts.text.catalogue import SENTENCES
from noughts.text.page import PAGE_SENTENCES
from noughts.text.speaker import Speaker
from noughts.text.turning_point import say_mistake

_COACH = {
    key: text
    for key, text in SENTENCES.items()
    if key.startswith(("place.", "line."))
    or key in ("review.turned", "review.cancelled", "review.flawless")
}
"""What the page needs of the terminal's catalogue."""


def page_data() -> bytes:
    """Return the data as JSON."""
    return msgspec.json.encode(
        {
            "levels": {level.lower(): bot for level, bot in LEVELS.items()},
            "chances": chances([*LEVELS.values()]),
            "sentences": PAGE_SENTENCES | _COACH,
        }
    )


def mistakes() -> bytes:
    """Return what every mistake in an open position missed or allowed, as JSON, by class and cell.

    The words for cells and lines depend on the image: `{c4}` is the cell 4, `{l012}` a line.
    """
    speaker = _Template(cells="places")
    found: dict[str, dict[int, str]] = {}
    for digits, board in _open_positions().items():
        expected = prospect(board).result
        for cell, after in prospects(board).items():
            if after.result is not expected:  # only these are judged: reasons take time
                advice = judge_move(board, cell)
                found.setdefault(digits, {})[cell] = say_mistake(advice, "{other}", speaker)
    return msgspec.json.encode(found)


class _Template(Speaker):
    """Leaves out the words for cells and lines."""

    def cell(self, cell: Cell) -> str:
        return f"{{c{cell}}}"

    def line(self, line: tuple[Cell, ...]) -> str:
        return f"{{l{''.join(map(str, line))}}}"


def chances(bots: list[str]) -> dict[str, list[list[int]]]:
    """Return the weights of each bot's moves in every open position, one for each class of images.

    A position has nine digits, row by row: 0 is free, 1 the mark of the bot, 2 the other mark. Of its
    images, the one whose digits come first represents them all. The weights are those of the free cells.

    >>> chances(["perfect", "random"])["000000012"]
    [[0, 0, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1]]
    """
    policies = [find_policy(bot) for bot in bots]
    return {
        digits: [_weights(policy, board) for policy in policies]
        for digits, board in _open_positions().items()
    }


def _weights(policy: Policy, board: Board) -> list[int]:
    weights = weigh(policy, board)
    shares = dict(zip(weights.cells, weights.shares, strict=True))
    return [shares.get(cell, 0) for cell in board.free_cells]


@cache
def _open_positions() -> dict[str, Board]:
    """Return the 627 positions that are not over, one for each class of images."""
    boards = [Board()]
    found = {_digits(board): board for board in boards}
    known = set(found)
    for board in boards:  # grows while it is walked
        for cell in board.free_cells:
            after = board.place(cell)
            if not after.is_over and _digits(after) not in known:
                images = {_digits(image): image for image in map(after.image, SYMMETRIES)}
                known.update(images)
                first = min(images)
                found[first] = images[first]
                boards.append(after)
    return found


def _digits(board: Board) -> str:
    return "".join(["0" if mark is None else "1" if mark is board.turn else "2" for mark in board.cells])
