"""A PettingZoo environment (AEC): two agents take turns.

It does what PettingZoo's own games need wrappers for: it enforces the order of calls, refuses actions
that are not cells, and ends the game at an illegal move. A step is a lookup, not arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Never, TypeAlias, TypeVar

import numpy as np
from gymnasium import Space
from gymnasium.error import Error, ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]  # it has no types
from pettingzoo.utils.env import AECIterable  # type: ignore[import-untyped]  # it has no types

from noughts.core.board import Board, Mark, O, X
from noughts.core.errors import CellTaken, quoted
from noughts.lab import observations as obs
from noughts.lab.observations import Observation, Plane, mask_of, read_action, with_mask
from noughts.lab.rendering import MODES, check_render_mode, render_board

CopyPlane: TypeAlias = Callable[[], Plane]
T = TypeVar("T")

AGENTS = ("player_1", "player_2")
"""The first has X and starts."""
MARKS = {"player_1": X, "player_2": O}
_OTHER = {"player_1": "player_2", "player_2": "player_1"}
_START = Board()


def env(render_mode: str | None = None, mask_in: str = "observation") -> TicTacToeAEC:
    """Return an environment in which a move to a taken cell loses: -1 for the mover, 0 for the other."""
    return TicTacToeAEC(render_mode, mask_in)


def raw_env(render_mode: str | None = None, mask_in: str = "observation") -> TicTacToeAEC:
    """Return an environment in which a move to a taken cell is an error and changes nothing."""
    return TicTacToeAEC(render_mode, mask_in, illegal_moves_lose=False)


class BoardViews(dict["Board | None", "tuple[CopyPlane, CopyPlane]"]):
    """The observation and the mask of a mark's player for each board, made on first use.

    It holds functions that copy the arrays: no receiver can change what others get.
    """

    def __init__(self, mark: Mark) -> None:
        self._mark = mark

    def __missing__(self, board: Board | None) -> tuple[CopyPlane, CopyPlane]:
        if board is None:
            raise _not_started()
        mask = mask_of(board) if board.turn is self._mark else _ALL_ZEROS
        self[board] = obs.observation_of(board, self._mark).copy, mask.copy
        return self[board]


class ByAgent(dict[str, T]):
    """A value for each agent."""

    def __missing__(self, agent: object) -> Never:
        raise ValueError(f"unknown agent {quoted(agent)}: the agents are {', '.join(AGENTS)}")


_ALL_ONES = mask_of(_START)
_ALL_ZEROS = 0 * _ALL_ONES
_ALL_ZEROS.flags.writeable = False  # every waiting agent gets this one
_VIEWS = ByAgent({agent: BoardViews(mark) for agent, mark in MARKS.items()})


class AgentIterator(AECIterable):  # type: ignore[misc]  # a class without types
    """The agents in turn; each must step before the next one comes."""

    env: TicTacToeAEC

    def __iter__(self) -> Iterator[str]:
        game = self.env
        for _ in range(self.max_iter):
            if not game.agents:
                return
            game.is_waiting = True
            yield game.agent_selection
            if game.is_waiting:
                raise Error("each agent needs a step() in a loop over agent_iter()")


class AfterReset:
    """An attribute that raises a clear error until reset() sets it on the instance.

    Unlike `__getattr__`, it does not slow down other attributes.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: object, owner: type) -> Any:  # noqa: ANN401 - it never returns
        raise AttributeError(f"{self._name} cannot be accessed before reset()")


class TicTacToeAEC(AECEnv):  # type: ignore[misc]  # a class without types
    """A game for two agents that take turns.

    >>> game = env()
    >>> game.reset()
    >>> for agent, cell in zip(game.agent_iter(), (0, 3, 1, 4, 2)):
    ...     game.step(cell)
    >>> game.rewards
    {'player_1': 1, 'player_2': -1}
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tic_tac_toe_v1",
        "render_modes": list(MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }

    agents: list[str] = AfterReset()  # type: ignore[assignment]  # reset() sets it
    agent_selection: str = AfterReset()  # type: ignore[assignment]  # reset() sets it
    rewards: dict[str, float] = AfterReset()  # type: ignore[assignment]  # reset() sets it
    terminations: dict[str, bool] = AfterReset()  # type: ignore[assignment]  # reset() sets it
    truncations: dict[str, bool] = AfterReset()  # type: ignore[assignment]  # reset() sets it
    infos: dict[str, dict[str, Any]] = AfterReset()  # type: ignore[assignment]  # reset() sets it

    def __init__(
        self,
        render_mode: str | None = None,
        mask_in: str = "observation",
        *,
        illegal_moves_lose: bool = True,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [*AGENTS]
        self.action_spaces = ByAgent({agent: obs.action_space() for agent in AGENTS})
        self._mask_in_info = obs.is_mask_in_info(mask_in)
        self.observation_spaces = ByAgent(
            {agent: obs.observation_space(has_mask=not self._mask_in_info) for agent in AGENTS}
        )
        self._illegal_moves_lose = illegal_moves_lose
        self._board: Board | None = None
        self._is_over = True
        self._is_watched = render_mode == "human"
        self.is_waiting = False
        """Whether the last agent from `agent_iter` has not stepped yet."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - part of the API; the game has no randomness and no options
        """Start a new game."""
        self._board = _START
        self._is_over = False
        self.is_waiting = False
        self.agents = ["player_1", "player_2"]
        self.agent_selection = "player_1"
        self.rewards = {"player_1": 0, "player_2": 0}
        self._cumulative_rewards: dict[str, float] = {"player_1": 0, "player_2": 0}
        self.terminations = {"player_1": False, "player_2": False}
        self.truncations = {"player_1": False, "player_2": False}
        self.infos = self._first_infos()
        if self._is_watched:
            self.render()

    def step(self, action: int | None) -> None:
        """Place a token for the agent to move; after the end, agents leave by stepping with None.

        An action that is not a cell is refused and changes nothing.
        """
        board = self._board
        if board is None or self._is_over:
            self._leave(action)
            return
        try:
            board = board.place(action if type(action) is int else read_action(action))
        except CellTaken:
            if not self._illegal_moves_lose:
                raise
            self._lose_by_illegal_move()
        else:
            self._board = board
            agent = self.agent_selection
            self.agent_selection = other = _OTHER[agent]
            if self._mask_in_info:
                infos = self.infos
                infos[agent] = {"action_mask": _ALL_ZEROS}
                infos[other] = {"action_mask": _VIEWS[other][board][1]()}
            if board.is_over:
                won = (board.winner is X) - (board.winner is O)
                self.rewards = {"player_1": won, "player_2": -won}
                self._finish()
        self.is_waiting = False
        if self._is_watched:
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation, in new arrays; only the agent to move has a mask with ones."""
        see, mask = _VIEWS[agent][self._board]
        if self._mask_in_info:
            return see()
        if self._is_over:
            mask = (_ALL_ONES if agent == self.agent_selection else _ALL_ZEROS).copy
        return with_mask(see(), mask())

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:  # noqa: FBT001, FBT002 - part of the API
        """Return observation, reward, termination, truncation and info of the agent to move."""
        agent = self.agent_selection
        if not self.agents:
            raise _both_left()
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> AgentIterator:
        """Iterate over the agents in turn, until both have left."""
        if self._board is None:
            raise _not_started()
        return AgentIterator(self, max_iter)

    def observation_space(self, agent: str) -> Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete[np.int64]:
        return self.action_spaces[agent]

    def render(self) -> str | NDArray[np.uint8] | None:
        if self._board is None:
            raise _not_started()
        return render_board(self._board, self.render_mode)

    def close(self) -> None:
        """Do nothing: no resources are held, but PettingZoo's checker asks for it beside `render`."""

    def _first_infos(self) -> dict[str, dict[str, Any]]:
        """Return the infos when X is to move, or to leave, and every cell is allowed."""
        if self._mask_in_info:
            return {
                "player_1": {"action_mask": _ALL_ONES.copy()},
                "player_2": {"action_mask": _ALL_ZEROS},
            }
        return {"player_1": {}, "player_2": {}}

    def _lose_by_illegal_move(self) -> None:
        """End the game as PettingZoo's TerminateIllegalWrapper does, also truncated."""
        self.rewards[self.agent_selection] = -1
        self.infos = self._first_infos()
        self.infos[self.agent_selection]["illegal"] = True
        self.truncations = {"player_1": True, "player_2": True}
        self.agent_selection = "player_1"
        self._finish()

    def _finish(self) -> None:
        self._is_over = True
        self.terminations = {"player_1": True, "player_2": True}
        self._cumulative_rewards = self.rewards.copy()  # there were none before

    def _leave(self, action: int | None) -> None:
        """Remove an agent after the end, as PettingZoo's `_was_dead_step` does."""
        if self._board is None:
            raise _not_started()
        if not self.agents:
            raise _both_left()
        agent = self.agent_selection
        if action is not None:
            raise ValueError(f"the game is over: {agent} must step with None, not {quoted(action)}")
        del self.rewards[agent], self._cumulative_rewards[agent], self.infos[agent]
        del self.terminations[agent], self.truncations[agent]
        self.agents.remove(agent)
        self.agent_selection = _OTHER[agent]
        for other in self.agents:
            self.rewards[other] = 0
            if self._mask_in_info:
                self.infos[other] = {**self.infos[other], "action_mask": _ALL_ONES.copy()}
        self.is_waiting = False


def _not_started() -> ResetNeeded:
    return ResetNeeded("the game has not started: call reset() first")


def _both_left() -> ResetNeeded:
    return ResetNeeded("the game is over, and both agents have left: call reset() first")
