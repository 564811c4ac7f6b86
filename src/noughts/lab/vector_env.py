"""Thousands of games at once for one learner: Gymnasium's vector environment."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from noughts.core.errors import BadArray, BadSetting, quoted
from noughts.lab.backends import BITS, Chance
from noughts.lab.herd import ILLEGAL, Answers, faces_for, free, look, moved, number, places
from noughts.lab.observing import action_space, observation_space
from noughts.lab.opponents import EITHER, check_it_starts, check_mark, find_opponent
from noughts.lab.rendering import MODES, check_render_mode, render_board
from noughts.lab.tables import positions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from noughts.lab.herd import Faces, Flags, Numbers, Small
    from noughts.players.policies import Policy

    Step: TypeAlias = tuple[Small, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]

MOST = 10_000_000
"""Games at once; nobody means more."""


class TicTacToeVectorEnv(VectorEnv["Small", "NDArray[Any]", "NDArray[Any]"]):
    """Many games of one learner against a policy; with no opponent, the learner moves for both.

    The reward is 1, 0 or -1, in the step that ends a game; with no opponent it is the mover's. An action
    that is illegal ends its game with -1, and leaves its board as it was.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | Policy | None = "random",
        mark: str = "X",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs = _checked_size(num_envs)
        self.render_mode = check_render_mode(render_mode)
        mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": list(MODES), "render_fps": 2, "autoreset_mode": mode}
        self._is_at_once = mode is AutoresetMode.SAME_STEP
        self._seat = check_mark(mark)
        self._answers = None if opponent is None else _answers(opponent, self._seat)
        self.single_observation_space = observation_space()
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games: Numbers | None = None
        self._was_over: Flags | None = None
        """Those that the next step begins anew."""
        self._is_o = np.full(self.num_envs, self._seat == "O")
        """In which games the learner plays O."""
        lookers = {"X": "X", "O": "O", EITHER: "both"}
        self._faces = faces_for(lookers[self._seat] if self._answers else "move")
        self._seeded(None)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Small, dict[str, Any]]:
        """Begin all games anew."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._seeded(seed)
        self._was_over = None
        self._games = self._begun(np.ones(self.num_envs, np.bool_), np.zeros(self.num_envs, np.int64))
        seen = self._look(self._games)["seen"]
        return seen, {"action_mask": free(seen).copy(), "position": number(self._games)}

    def step(self, actions: NDArray[Any]) -> Step:
        """Make a move in each game, and hear the answer to it."""
        before = self._games
        if before is None:
            raise ResetNeeded("the games have not begun: call reset first")
        after = moved(before, self._checked_actions(actions))
        illegal = after >= ILLEGAL
        if self._answers:
            after = self._answered(after, illegal)
        return self._told(after, illegal) if self._is_at_once else self._told_first(after, illegal)

    def _answered(self, games: Numbers, illegal: Flags) -> Numbers:
        answered = self._answers.after(games, next(self._pieces))  # type: ignore[union-attr]  # it is there
        if np.count_nonzero(illegal):
            answered[illegal] = games[illegal]
        return answered

    def _told(self, after: Numbers, illegal: Flags) -> Step:
        """Begin what is over anew at once, and tell of the end in the infos."""
        last = self._look(after)
        ended = last["is_over"]
        self._games = games = self._begun(ended, after)
        seen = self._look(games)["seen"]
        infos = {
            "action_mask": free(seen),
            "position": number(games),
            "illegal": illegal,
            "final_obs": last["seen"],
            "_final_obs": ended,
        }
        return seen, last["reward"], ended, np.zeros(self.num_envs, np.bool_), infos

    def _told_first(self, after: Numbers, illegal: Flags) -> Step:
        """Tell of the end first, and begin anew in the next step."""
        if self._was_over is not None:
            after = self._begun(self._was_over, after)
            illegal &= ~self._was_over
        faces = self._look(after)
        seen, ended = faces["seen"], faces["is_over"]
        self._was_over = ended.copy()
        self._games = places(after)
        mask = free(seen) | ended[:, None].view(np.int8)  # whatever is done there begins a new game
        infos = {"action_mask": mask, "position": number(after), "illegal": illegal}
        return seen, faces["reward"], ended, np.zeros(self.num_envs, np.bool_), infos

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture of each game, or its text."""
        if self.render_mode is None:
            return None
        if self._games is None:
            raise ResetNeeded("the games have not begun: call reset first")
        boards = positions()
        return tuple(render_board(boards[one], self.render_mode) for one in number(self._games))

    def _begun(self, which: Flags, games: Numbers) -> Numbers:
        """Return the games, and a new one for each of these: the opponent has moved if it plays X."""
        if not self._answers or self._seat == "X":
            return np.where(which, 0, games)
        if self._seat == EITHER:
            self._is_o[which] = self._chance.below(2, int(which.sum())) == 1
        fresh = np.flatnonzero(which & self._is_o)
        begun = np.where(which, 0, games)
        pieces = self._chance.below(1 << BITS, len(fresh))
        begun[fresh] = self._answers.after(np.zeros_like(fresh), pieces)
        return begun

    def _look(self, games: Numbers) -> Faces:
        return look(self._faces, games, self._is_o if self._seat == EITHER and self._answers else None)

    def _seeded(self, seed: int | None) -> None:
        self._chance = Chance(seed)
        self._pieces: Iterator[Numbers] = self._chance.pieces(self.num_envs)

    def _checked_actions(self, actions: NDArray[Any]) -> NDArray[Any]:
        try:
            given = np.asarray(actions)
        except (TypeError, ValueError) as error:
            raise BadArray(f"{quoted(actions)} is no array of actions") from error
        if given.shape != (self.num_envs,):
            raise BadArray(f"there are {self.num_envs} games, and actions of the shape {given.shape}")
        if given.dtype.kind not in "iu":
            raise BadArray(f"actions are whole numbers, and not {given.dtype}")
        return given if given.dtype != np.uint64 else given.astype(np.int64)  # their sum would be none


def _answers(opponent: str | Policy, seat: str) -> Answers:
    """Ask an opponent about every board, once."""
    policy = find_opponent(opponent)
    if seat != "X":
        check_it_starts(policy)
    return Answers(policy)


def _checked_size(num_envs: int) -> int:
    try:
        size = index(num_envs)
    except TypeError:
        size = 0
    if not 0 < size <= MOST:
        raise BadSetting(f"{quoted(num_envs)} is no number of games: it is 1 to {MOST:,}")
    return size


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    known = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP
    for one in known:
        if mode in (one, one.value):
            return one
    raise BadSetting(
        f"games that are over are begun anew: {known[0]} or {known[1]}, and not {quoted(mode)}"
    )
