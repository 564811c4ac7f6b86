"""The game for two agents who take turns: a PettingZoo environment (AEC).

What PettingZoo's own games get from a stack of wrappers is built in here: order is enforced, an action
that is no cell is refused, and an illegal move ends the game. A step is a look-up, not arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Never, TypeAlias, TypeVar

import numpy as np
from gymnasium import Space
from gymnasium.error import Error, ResetNeeded
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]  # it has no types to offer
from pettingzoo.utils.env import AECIterable  # type: ignore[import-untyped]  # the same

from noughts.core.board import Board, Mark, O, X
from noughts.core.errors import CellTaken, quoted
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
from noughts.lab.rendering import MODES, check_render_mode, render_board

Copy: TypeAlias = Callable[[], Plane]
Thing = TypeVar("Thing")

AGENTS = ("player_1", "player_2")
"""The first has X and starts."""
MARKS = {"player_1": X, "player_2": O}
_OTHER = {"player_1": "player_2", "player_2": "player_1"}
_START = Board()


def env(render_mode: str | None = None, mask_in: str = "observation") -> TicTacToeAEC:
    """Make an environment in which a token on a taken cell loses: -1 for the mover, 0 for the other."""
    return TicTacToeAEC(render_mode, mask_in)


def raw_env(render_mode: str | None = None, mask_in: str = "observation") -> TicTacToeAEC:
    """Make an environment in which a token on a taken cell is an error, and nothing happens."""
    return TicTacToeAEC(render_mode, mask_in, illegal_moves_lose=False)


class Sight(dict["Board | None", "tuple[Copy, Copy]"]):
    """What the player of a mark sees in each position, and may do: made when it is first looked at.

    What is kept are not the arrays but ways to copy them: nobody who looks can change what others see.
    """

    def __init__(self, mark: Mark) -> None:
        self._mark = mark

    def __missing__(self, board: Board | None) -> tuple[Copy, Copy]:
        if board is None:
            raise ResetNeeded("the game has not begun: call reset() first")
        mask = mask_of(board) if board.turn is self._mark else _NOTHING
        self[board] = observation_of(board, self._mark).copy, mask.copy
        return self[board]


class Sights(dict[str, Sight]):
    """What each agent sees."""

    def __missing__(self, agent: object) -> Never:
        raise _no_such_agent(agent)


class Masks(dict[Board, "Copy"]):
    """What may be done in each position."""

    def __missing__(self, board: Board) -> Copy:
        copy = self[board] = mask_of(board).copy
        return copy


_MASKS = Masks()
_EVERYTHING = mask_of(_START)
_NOTHING = 0 * _EVERYTHING
_NOTHING.flags.writeable = False  # so that all who wait can have the same one
_anything = _EVERYTHING.copy
_SIGHTS = Sights({agent: Sight(mark) for agent, mark in MARKS.items()})


class Turns(AECIterable):  # type: ignore[misc]  # a class without types
    """The agents in the order of their turns, for as long as each of them takes it."""

    env: TicTacToeAEC

    def __iter__(self) -> Iterator[str]:
        game = self.env
        for _ in range(self.max_iter):
            if not game.agents:
                return
            game.is_waiting = True
            yield game.agent_selection
            if game.is_waiting:
                raise Error("in a loop over agent_iter(), each agent needs a step()")


class AfterReset:
    """An attribute that is there once the game has begun.

    It says so on the class, where nothing that an environment has of its own is looked up: `__getattr__`
    would say the same, and slow down every other attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: object, owner: type) -> Any:  # noqa: ANN401 - it never has anything to return
        raise AttributeError(f"{self._name} cannot be accessed before reset(): the game has not begun")


class TicTacToeAEC(AECEnv):  # type: ignore[misc]  # a class without types
    """A game for two agents, who take turns.

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

    agents: list[str] = AfterReset()  # type: ignore[assignment]  # an environment has its own in time
    agent_selection: str = AfterReset()  # type: ignore[assignment]  # the same
    rewards: dict[str, float] = AfterReset()  # type: ignore[assignment]  # the same
    terminations: dict[str, bool] = AfterReset()  # type: ignore[assignment]  # the same
    truncations: dict[str, bool] = AfterReset()  # type: ignore[assignment]  # the same
    infos: dict[str, dict[str, Any]] = AfterReset()  # type: ignore[assignment]  # the same

    def __init__(
        self,
        render_mode: str | None = None,
        mask_in: str = "observation",
        *,
        illegal_moves_lose: bool = True,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [*AGENTS]
        self.action_spaces = {agent: action_space() for agent in AGENTS}
        self._mask_in_info = is_mask_in_info(mask_in)
        self.observation_spaces = {
            agent: observation_space(has_mask=not self._mask_in_info) for agent in AGENTS
        }
        self._illegal_moves_lose = illegal_moves_lose
        self._board: Board | None = None
        self._is_over = True
        self._is_watched = render_mode == "human"
        self.is_waiting = False
        """Whether the agent that `agent_iter` named last has not taken its step."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - the API's: there is no chance in this game, and no choice
        """Begin a new game."""
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
        """Place a token for the agent whose turn it is; when the game is over, let go of an agent.

        What is no cell is refused, and nothing happens. An agent whose game is over steps with None.
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
                infos[agent] = {"action_mask": _NOTHING}
                infos[other] = {"action_mask": _MASKS[board]()}
            if board.is_over:
                self._end(board)
        self.is_waiting = False
        if self._is_watched:
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees, in arrays of its own; only who is to move may do anything."""
        see, mask = _SIGHTS[agent][self._board]
        if self._mask_in_info:
            return see()
        return with_mask(see(), self._last_mask(agent) if self._is_over else mask())

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:  # noqa: FBT001, FBT002 - the API's
        """Return what the agent whose turn it is sees, got since its last step, and may know."""
        agent = self.agent_selection
        if not self.agents:
            raise ResetNeeded("the game is over, and both agents have left: call reset() first")
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: int = 2**63) -> Turns:
        """Go through the agents in the order of their turns, until both have left."""
        if self._board is None:
            raise ResetNeeded("the game has not begun: call reset() first")
        return Turns(self, max_iter)

    def observation_space(self, agent: str) -> Space[Any]:
        """Return what an agent can see."""
        return _of_agent(self.observation_spaces, agent)

    def action_space(self, agent: str) -> Discrete[np.int64]:
        """Return what an agent can do."""
        return _of_agent(self.action_spaces, agent)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Show the board as `render_mode` asks."""
        if self._board is None:
            raise ResetNeeded("the game has not begun: call reset() first")
        return render_board(self._board, self.render_mode)

    def close(self) -> None:
        """Let go of everything, which is nothing."""

    def _first_infos(self) -> dict[str, dict[str, Any]]:
        """Return the infos when X is to move, or to leave, and may do anything."""
        if self._mask_in_info:
            return {"player_1": {"action_mask": _anything()}, "player_2": {"action_mask": _NOTHING}}
        return {"player_1": {}, "player_2": {}}

    def _last_mask(self, agent: str) -> Plane:
        return (_EVERYTHING if agent == self.agent_selection else _NOTHING).copy()

    def _end(self, board: Board) -> None:
        """Reward the winner, if there is one, and terminate both."""
        if board.winner is X:
            self.rewards = {"player_1": 1, "player_2": -1}
        elif board.winner is O:
            self.rewards = {"player_1": -1, "player_2": 1}
        self._finish()

    def _lose_by_illegal_move(self) -> None:
        """End the game as PettingZoo's TerminateIllegalWrapper does: truncated, too."""
        self.rewards[self.agent_selection] = -1
        self.infos = self._first_infos()
        self.infos[self.agent_selection]["illegal"] = True
        self.truncations = {"player_1": True, "player_2": True}
        self.agent_selection = "player_1"
        self._finish()

    def _finish(self) -> None:
        self._is_over = True
        self.terminations = {"player_1": True, "player_2": True}
        self._cumulative_rewards = self.rewards.copy()  # nobody was given any before

    def _leave(self, action: int | None) -> None:
        """Let go of an agent whose game is over, as PettingZoo's own `_was_dead_step` does."""
        if self._board is None:
            raise ResetNeeded("the game has not begun: call reset() first")
        if not self.agents:
            raise ResetNeeded("the game is over, and both agents have left: call reset() first")
        agent = self.agent_selection
        if action is not None:
            raise ValueError(f"the game is over: {agent} steps with None, not with {quoted(action)}")
        del self.rewards[agent], self._cumulative_rewards[agent], self.infos[agent]
        del self.terminations[agent], self.truncations[agent]
        self.agents.remove(agent)
        self.agent_selection = _OTHER[agent]
        for other in self.agents:
            self.rewards[other] = 0
            if self._mask_in_info:
                self.infos[other] = {**self.infos[other], "action_mask": _anything()}
        self.is_waiting = False


def _of_agent(things: dict[str, Thing], agent: str) -> Thing:
    """Return what is an agent's own."""
    if agent not in AGENTS:
        raise _no_such_agent(agent)
    return things[agent]


def _no_such_agent(agent: object) -> ValueError:
    return ValueError(f"there is no agent {quoted(agent)}: there are {', '.join(AGENTS)}")
