"""Thousands of games at once for one learner: a Gymnasium vector environment."""

from __future__ import annotations

from functools import cache
from operator import index
from typing import Any, TypeAlias

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from noughts.bots.errors import BadPolicy
from noughts.bots.policy import Policy, weigh
from noughts.core.board import Board
from noughts.core.errors import quoted
from noughts.lab import observations as obs, vector_tables as tables
from noughts.lab.backends import DRAW_BITS, RandomNumbers
from noughts.lab.errors import BadArray, BadSetting
from noughts.lab.lookup import positions
from noughts.lab.observations import Observation, with_mask
from noughts.lab.opponents import EITHER, MARKS, check_mark, find_opponent
from noughts.lab.rendering import MODES, check_render_mode, render_board
from noughts.lab.vector_tables import Flags, Numbers, OpponentTable, Outcomes, Small

StepResult: TypeAlias = tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]

MAX_ENVS = 10_000_000


class TicTacToeVectorEnv(VectorEnv["Observation", "NDArray[Any]", "NDArray[Any]"]):
    """Many games of one learner against a policy; with no opponent, the learner moves for both.

    The reward is 1, 0 or -1, in the step that ends a game; with no opponent it is for the player who made
    the move. An illegal action ends its game with -1 and leaves the board as it was.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | Policy | None = "random",
        mark: str = "X",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        mask_in: str = "observation",
    ) -> None:
        self.num_envs = _checked_size(num_envs)
        self.render_mode = check_render_mode(render_mode)
        mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": list(MODES), "render_fps": 2, "autoreset_mode": mode}
        self._resets_in_same_step = mode is AutoresetMode.SAME_STEP
        self._mark = check_mark(mark)
        self._opponent = None if opponent is None else _opponent_table(opponent, self._mark)
        self._mask_in_info = obs.is_mask_in_info(mask_in)
        self.single_observation_space = obs.observation_space(has_mask=not self._mask_in_info)
        self.single_action_space = obs.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games: Numbers | None = None
        """Their positions; this array is never given out."""
        self._was_over: Flags | None = None
        """The games that the next step restarts."""
        self._is_o = np.full(self.num_envs, self._mark == "O")
        """The games in which the learner plays O."""
        viewers = {"X": "X", "O": "O", EITHER: "both"}
        self._viewer = viewers[self._mark] if self._opponent else "to move"
        self._seed(None)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Restart all games; single games restart by themselves when they are over."""
        if options and "reset_mask" in options:
            raise BadSetting(
                "reset_mask is not supported: reset restarts all games, and finished ones restart alone"
            )
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._seed(seed)
        self._was_over = None
        games = np.zeros(self.num_envs, np.uint16)
        self._restart(np.ones(self.num_envs, np.bool_), games)
        self._games = now = tables.position_numbers(games)
        seen = self._view(now)["seen"]
        return self._with_mask(seen, tables.free_cells(seen).copy(), {"position": now.copy()})

    def step(self, actions: NDArray[Any]) -> StepResult:
        """Make a move in each game, and let the opponent reply."""
        if self._games is None:
            raise ResetNeeded("the games have not started: call reset() first")
        after = tables.apply_actions(self._games, self._checked_actions(actions))
        illegal = after >= tables.ILLEGAL
        if self._opponent:
            replied = self._opponent.reply(tables.position_numbers(after), next(self._draws))
            if np.count_nonzero(illegal):
                replied[illegal] = after[illegal]
            after = replied
        if self._resets_in_same_step:
            return self._same_step_result(after, illegal)
        return self._next_step_result(after, illegal)

    def render(self) -> tuple[Any, ...] | None:
        """Return an image or the text of each game."""
        if self._games is None:
            raise ResetNeeded("the games have not started: call reset() first")
        if self.render_mode is None:
            return None
        boards = positions()
        return tuple(render_board(boards[game], self.render_mode) for game in self._games)

    def _seed(self, seed: int | None) -> None:
        self._random = RandomNumbers(seed)
        self._draws = self._random.draws(self.num_envs)

    def _same_step_result(self, after: Outcomes, illegal: Flags) -> StepResult:
        """Restart finished games at once, with their last observation in the infos."""
        last, ended = self._view(after), after >= tables.OVER
        self._restart(ended, after)
        self._games = games = after.astype(np.int64)  # none of them is over now
        seen = self._view(games)["seen"]
        end = last["seen"]
        infos = {
            "position": games.copy(),
            "illegal": illegal,
            "final_obs": end if self._mask_in_info else with_mask(end, _all_ones(self.num_envs)),
            "_final_obs": ended,
        }
        observation, infos = self._with_mask(seen, tables.free_cells(seen), infos)
        return observation, last["reward"], ended, np.zeros(self.num_envs, np.bool_), infos

    def _next_step_result(self, after: Outcomes, illegal: Flags) -> StepResult:
        """Show finished games as they are, and restart them in the next step."""
        if self._was_over is not None:
            self._restart(self._was_over, after)
            illegal &= ~self._was_over
        views, ended = self._view(after), after >= tables.OVER
        seen = views["seen"]
        self._was_over = ended.copy()
        self._games = games = tables.position_numbers(after)
        # Any action starts a new game where one has ended.
        mask = tables.free_cells(seen) | ended[:, None].view(np.int8)
        infos: dict[str, Any] = {"position": games.copy(), "illegal": illegal}
        observation, infos = self._with_mask(seen, mask, infos)
        return observation, views["reward"], ended, np.zeros(self.num_envs, np.bool_), infos

    def _with_mask(
        self, seen: Small, mask: Small, infos: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        if self._mask_in_info:
            return seen, {"action_mask": mask, **infos}
        return with_mask(seen, mask), infos

    def _restart(self, which: Flags, games: Outcomes) -> None:
        """Replace games by new ones, with the opponent's first move if it plays X."""
        np.multiply(games, ~which, out=games)  # twice as fast as assigning zeros by index
        if not self._opponent or self._mark == "X":
            return
        if self._mark == EITHER:
            self._is_o[which] = self._random.below(2, int(which.sum())) == 1
        fresh = np.flatnonzero(which & self._is_o)
        draws = self._random.below(1 << DRAW_BITS, len(fresh))
        games[fresh] = self._opponent.reply(np.zeros_like(fresh), draws)

    def _view(self, games: Outcomes | Numbers) -> tables.Views:
        is_o = self._is_o if self._viewer == "both" else None
        return tables.take_views(tables.views_for(self._viewer), games, is_o)

    def _checked_actions(self, actions: NDArray[Any]) -> NDArray[Any]:
        if isinstance(actions, list | tuple) and any(
            isinstance(action, bool | np.bool_) for action in actions
        ):
            raise BadArray("actions are integers, not bool")  # next to integers they would become some
        try:
            given = np.asarray(actions)
        except (TypeError, ValueError) as error:
            raise BadArray(f"{quoted(actions)} is not an array of actions") from error
        if given.shape != (self.num_envs,):
            raise BadArray(f"{self.num_envs} games need as many actions, not the shape {given.shape}")
        if given.dtype.kind not in "iu":
            raise BadArray(f"actions are integers, not {given.dtype}")
        return given


@cache
def _all_ones(num_envs: int) -> Small:
    """Return the masks of finished games: a read-only view of one byte."""
    return np.broadcast_to(np.int8(1), (num_envs, 9))


def _opponent_table(opponent: str | Policy, mark: str) -> OpponentTable:
    policy = find_opponent(opponent)
    if mark != "X" and not weigh(policy, Board()).total:  # its games would end before they start
        raise BadPolicy("the opponent resigns before the first move, which leaves nothing to play")
    return OpponentTable(policy, tuple(own.other for own in MARKS[mark]))


def _checked_size(num_envs: int) -> int:
    try:
        size = index(num_envs)
    except TypeError:
        size = 0
    if not 0 < size <= MAX_ENVS:
        raise BadSetting(f"{quoted(num_envs)} is not a number of games: use 1 to {MAX_ENVS:,}")
    return size


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    supported = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP
    for one in supported:
        if mode in (one, one.value):
            return one
    raise BadSetting(f"autoreset_mode is {supported[0]} or {supported[1]}, not {quoted(mode)}")
