"""The game for one agent against a policy: a Gymnasium environment."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from gymnasium import Env
from gymnasium.error import ResetNeeded
from numpy.random import Generator
from numpy.typing import NDArray

from noughts.bots.policy import Policy, weigh
from noughts.core.board import Board, O, X
from noughts.core.errors import IllegalMove
from noughts.lab import observations as obs
from noughts.lab.lookup import numbers
from noughts.lab.observations import Observation, Plane, mask_of, read_action, with_mask
from noughts.lab.opponents import MARKS, check_mark, find_opponent
from noughts.lab.rendering import MODES, check_render_mode, render_board

StepResult: TypeAlias = tuple[Observation, float, bool, bool, dict[str, Any]]

_NUMPY_LIMIT = 2**63
"""The largest bound of NumPy's generator."""


class TicTacToeEnv(Env["Observation", int]):
    """One agent against a policy, given by name or as a function.

    X starts: an agent that plays O finds a token on the board. A named policy is queried once for each
    board, a function each time, so it may learn during a run.

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
        self.action_space = obs.action_space()  # type: ignore[assignment]  # an int is accepted too
        self._mask_in_info = obs.is_mask_in_info(mask_in)
        self.observation_space = obs.observation_space(has_mask=not self._mask_in_info)
        self.board = Board()
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
        """Start a new game; the opponent moves first if it has X.

        If it resigns at once, the agent's first legal move wins, as a game cannot end before one. If it
        fails, reset again.
        """
        super().reset(seed=seed, options=options)
        self._is_over = True
        mark, board, has_resigned = self._marks[_below(self.np_random, len(self._marks))], Board(), False
        if mark is O:
            board, has_resigned = self._reply(board)
        self.mark, self.board, self._has_resigned = mark, board, has_resigned
        self._has_begun, self._is_over = True, False
        self._show()
        return self._observation(), self._info()

    def step(self, action: int) -> StepResult:
        """Place a token, and let the opponent reply.

        An illegal move, on a taken cell or outside the board, loses and leaves the board as it was. An
        action that is not an integer is refused and changes nothing.
        """
        if self._is_over:
            raise ResetNeeded("the game is over or has not started: call reset() first")
        cell = read_action(action)
        try:
            board = self.board.place(cell)
        except IllegalMove:
            return self._result(-1, illegal=True)
        if not board.is_over and not self._has_resigned:
            board, self._has_resigned = self._reply(board)
        self.board = board
        if self._has_resigned:
            return self._result(1)
        if board.is_over:
            return self._result(0 if board.winner is None else 1 if board.winner is self.mark else -1)
        return self._result(0, is_over=False)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, for MaskablePPO of sb3-contrib."""
        if not self._has_begun:
            raise ResetNeeded("the game has not started: call reset() first")
        return self._mask().astype(bool)

    def render(self) -> str | NDArray[np.uint8] | None:
        if not self._has_begun:
            raise ResetNeeded("the game has not started: call reset() first")
        return render_board(self.board, self.render_mode)

    def _reply(self, board: Board) -> tuple[Board, bool]:
        """Draw the opponent's reply; return the next board, and whether it resigned instead."""
        weights = weigh(self._opponent, board)
        if not weights.cells:
            return board, True
        drawn = _below(self.np_random, weights.total)
        return board.place(weights.cells[bisect([*accumulate(weights.shares)], drawn)]), False

    def _result(self, reward: int, *, is_over: bool = True, illegal: bool = False) -> StepResult:
        self._is_over = is_over
        self._show()
        return self._observation(), reward, is_over, False, self._info(illegal=illegal)

    def _observation(self) -> Observation:
        observation = obs.observation_of(self.board, self.mark)
        return observation if self._mask_in_info else with_mask(observation, self._mask())

    def _mask(self) -> Plane:
        return mask_of(self.board, is_over=self._is_over)

    def _info(self, *, illegal: bool = False) -> dict[str, Any]:
        info = {"position": numbers()[self.board], "illegal": illegal, "resigned": self._has_resigned}
        return {"action_mask": self._mask(), **info} if self._mask_in_info else info

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()


def _below(rng: Generator, total: int) -> int:
    """Draw a uniform integer below a total of any size; a total of 1 needs no randomness."""
    if total == 1:
        return 0
    if total <= _NUMPY_LIMIT:
        return int(rng.integers(total))
    size = total.bit_length()
    while (drawn := int.from_bytes(rng.bytes(-(-size // 8))) >> -size % 8) >= total:
        pass  # more than half of the draws are below it
    return drawn
