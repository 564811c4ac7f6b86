"""The game for one agent against a policy: a Gymnasium environment."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from numpy.random import Generator
from numpy.typing import NDArray

from noughts.bots.policy import Policy, weigh
from noughts.core.board import Board, Cell, O, X
from noughts.core.errors import IllegalMove
from noughts.lab.lookup import numbers
from noughts.lab.observations import (
    Observation,
    Plane,
    action_space,
    is_mask_in_info,
    mask_of,
    observation_of,
    observation_space,
    read_action,
    with_mask,
)
from noughts.lab.opponents import MARKS, check_mark, find_opponent
from noughts.lab.rendering import MODES, check_render_mode, render_board

_LONG = 2**63
"""NumPy draws below no greater number."""


class TicTacToeEnv(Env["Observation", int]):
    """One agent against a policy, which is asked for by name or is a function.

    X starts: an agent that has O finds a token on the board. A policy with a name is thought about once
    for each board; a function is asked each time, and so may learn meanwhile.

    >>> env = TicTacToeEnv("perfect")
    >>> seen, info = env.reset(seed=1)
    >>> for cell in (0, 1, 5):
    ...     seen, reward, terminated, truncated, info = env.step(cell)
    >>> print(env.board, reward, terminated)
    XXO/_OX/O__ -1 True
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 1}  # noqa: RUF012 - the API's

    def __init__(
        self,
        opponent: str | Policy = "random",
        mark: str = "X",
        render_mode: str | None = None,
        mask_in: str = "observation",
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.action_space = action_space()  # type: ignore[assignment]  # an int does where NumPy's does
        self._mask_in_info = is_mask_in_info(mask_in)
        self.observation_space = observation_space(has_mask=not self._mask_in_info)
        self.board = Board()
        """The position."""
        self.mark = X
        """The agent's mark in this game."""
        self._marks = MARKS[check_mark(mark)]
        self._opponent = find_opponent(opponent)
        self._has_begun = False
        self._is_over = True
        self._has_resigned = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a new game; the opponent moves first if it has X.

        If it resigns there and then, the agent's first legal move wins: a game cannot end before one. If
        it fails, there is no game, neither a new one nor the old one.
        """
        super().reset(seed=seed, options=options)
        self._is_over = True
        mark, board, has_resigned = self._marks[_below(self.np_random, len(self._marks))], Board(), False
        if mark is O:
            board, has_resigned = self._answered(board)
        self.mark, self.board, self._has_resigned = mark, board, has_resigned
        self._has_begun, self._is_over = True, False
        self._show()
        return self._seen(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Place a token, and let the opponent answer.

        An illegal move, on a taken cell or on none, loses, and the board stays. What is no whole number
        is refused, and nothing happens.
        """
        if self._is_over:
            raise ResetNeeded("no game is going on: call reset() first")
        cell = read_action(action)
        try:
            board = self.board.place(cell)
        except IllegalMove:
            return self._ended(-1, illegal=True)
        if not board.is_over and not self._has_resigned:
            board, self._has_resigned = self._answered(board)
        self.board = board
        if self._has_resigned:
            return self._ended(1)
        if board.is_over:
            return self._ended(0 if board.winner is None else 1 if board.winner is self.mark else -1)
        self._show()
        return self._seen(), 0, False, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, as MaskablePPO of sb3-contrib asks for it."""
        if not self._has_begun:
            raise ResetNeeded("there is no game yet: call reset() first")
        return self._mask().astype(bool)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Show the board as `render_mode` asks."""
        if not self._has_begun:
            raise ResetNeeded("there is no game yet: call reset() first")
        return render_board(self.board, self.render_mode)

    def _answered(self, board: Board) -> tuple[Board, bool]:
        """Return the board after the opponent's move, and whether it resigned instead."""
        cell = _drawn(self._opponent, board, self.np_random)
        return (board, True) if cell is None else (board.place(cell), False)

    def _ended(
        self, reward: int, *, illegal: bool = False
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self._is_over = True
        self._show()
        return self._seen(), reward, True, False, self._info(illegal=illegal)

    def _seen(self) -> Observation:
        seen = observation_of(self.board, self.mark)
        return seen if self._mask_in_info else with_mask(seen, self._mask())

    def _mask(self) -> Plane:
        return mask_of(self.board, is_over=self._is_over)

    def _info(self, *, illegal: bool = False) -> dict[str, Any]:
        info = {
            "position": numbers()[self.board],
            "illegal": illegal,
            "resigned": self._has_resigned,
        }
        return {"action_mask": self._mask(), **info} if self._mask_in_info else info

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def _drawn(policy: Policy, board: Board, rng: Generator) -> Cell | None:
    """Draw a cell from a policy's exact chances; or None, if it resigns."""
    weights = weigh(policy, board)
    if not weights.cells:
        return None
    return weights.cells[bisect([*accumulate(weights.shares)], _below(rng, weights.total))]


def _below(rng: Generator, total: int) -> int:
    """Draw a whole number below another, each with the same chance; nothing is drawn if there is one."""
    if total == 1:
        return 0
    if total <= _LONG:
        return int(rng.integers(total))
    size = total.bit_length()
    while (drawn := int.from_bytes(rng.bytes(-(-size // 8))) >> -size % 8) >= total:
        pass  # more than half are below
    return drawn
