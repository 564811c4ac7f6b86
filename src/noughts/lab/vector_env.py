"""Thousands of games at once for one learner: Gymnasium's vector environment."""

from __future__ import annotations

from functools import cache
from operator import index
from typing import Any, TypeAlias

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from noughts.bots.policy import Policy
from noughts.core.errors import quoted
from noughts.lab.backends import BITS
from noughts.lab.errors import BadArray, BadSetting
from noughts.lab.lookup import positions
from noughts.lab.observations import (
    Observation,
    action_space,
    is_mask_in_info,
    observation_space,
    with_mask,
)
from noughts.lab.opponents import EITHER, MARKS, check_it_starts, check_mark, find_opponent
from noughts.lab.rendering import MODES, check_render_mode, render_board
from noughts.lab.vector_tables import (
    ILLEGAL,
    OVER,
    Answers,
    Faces,
    Flags,
    Luck,
    Numbers,
    Outcomes,
    Small,
    faces_for,
    free,
    look,
    moved,
    number,
)

Step: TypeAlias = tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]

MOST = 10_000_000
"""Games at once; nobody means more."""


class TicTacToeVectorEnv(VectorEnv["Observation", "NDArray[Any]", "NDArray[Any]"]):
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
        mask_in: str = "observation",
    ) -> None:
        self.num_envs = _checked_size(num_envs)
        self.render_mode = check_render_mode(render_mode)
        mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": list(MODES), "render_fps": 2, "autoreset_mode": mode}
        self._is_at_once = mode is AutoresetMode.SAME_STEP
        self._seat = check_mark(mark)
        self._answers = None if opponent is None else _answers(opponent, self._seat)
        self._mask_in_info = is_mask_in_info(mask_in)
        self.single_observation_space = observation_space(has_mask=not self._mask_in_info)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games: Numbers | None = None
        """In which positions they are; nobody else has this array."""
        self._was_over: Flags | None = None
        """Those that the next step begins anew."""
        self._is_o = np.full(self.num_envs, self._seat == "O")
        """In which games the learner plays O."""
        self._faces = self._new_faces()
        self._luck = Luck(None, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all games anew; there is no way to begin some of them, which they do by themselves."""
        if options and "reset_mask" in options:
            raise BadSetting(
                "reset begins all games, and takes no reset_mask: one that is over begins anew by itself"
            )
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._luck = Luck(seed, self.num_envs)
        self._was_over = None
        begun = np.zeros(self.num_envs, np.uint16)
        self._begin(np.ones(self.num_envs, np.bool_), begun)
        self._games = games = number(begun)
        seen = self._look(games)["seen"]
        return self._given(seen, free(seen).copy(), {"position": games.copy()})

    def step(self, actions: NDArray[Any]) -> Step:
        """Make a move in each game, and hear the answer to it."""
        if self._games is None:
            raise ResetNeeded("the games have not begun: call reset first")
        after = moved(self._games, self._checked_actions(actions))
        illegal = after >= ILLEGAL
        if self._answers:
            after = self._answered(self._answers, after, illegal)
        return self._told(after, illegal) if self._is_at_once else self._told_first(after, illegal)

    def _answered(self, answers: Answers, after: Outcomes, illegal: Flags) -> Outcomes:
        answered = answers.after(number(after), self._luck.next_pieces())
        if np.count_nonzero(illegal):
            answered[illegal] = after[illegal]
        return answered

    def _told(self, after: Outcomes, illegal: Flags) -> Step:
        """Begin what is over anew at once, and tell of the end in the infos."""
        last, ended = self._look(after), after >= OVER
        self._begin(ended, after)
        self._games = games = after.astype(np.int64)  # none of them is over any more
        seen = self._look(games)["seen"]
        end = last["seen"]
        infos = {
            "position": games.copy(),
            "illegal": illegal,
            "final_obs": end if self._mask_in_info else with_mask(end, _all_ones(self.num_envs)),
            "_final_obs": ended,
        }
        given, infos = self._given(seen, free(seen), infos)
        return given, last["reward"], ended, np.zeros(self.num_envs, np.bool_), infos

    def _told_first(self, after: Outcomes, illegal: Flags) -> Step:
        """Tell of the end first, and begin anew in the next step."""
        if self._was_over is not None:
            self._begin(self._was_over, after)
            illegal &= ~self._was_over
        faces, ended = self._look(after), after >= OVER
        seen = faces["seen"]
        self._was_over = ended.copy()
        self._games = games = number(after)
        mask = free(seen) | ended[:, None].view(np.int8)  # whatever is done there begins a new game
        given, infos = self._given(seen, mask, {"position": games.copy(), "illegal": illegal})
        return given, faces["reward"], ended, np.zeros(self.num_envs, np.bool_), infos

    def _given(
        self, seen: Small, mask: Small, infos: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        """Put the mask where it was asked for."""
        if self._mask_in_info:
            return seen, {"action_mask": mask, **infos}
        return with_mask(seen, mask), infos

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture of each game, or its text."""
        if self._games is None:
            raise ResetNeeded("the games have not begun: call reset first")
        if self.render_mode is None:
            return None
        boards = positions()
        return tuple(render_board(boards[game], self.render_mode) for game in self._games)

    def _begin(self, which: Flags, games: Outcomes) -> None:
        """Put new games in the place of these: the opponent has moved in them if it plays X."""
        np.multiply(games, ~which, out=games)  # twice as fast as to write zeros here and there
        if not self._answers or self._seat == "X":
            return
        if self._seat == EITHER:
            self._is_o[which] = self._luck.below(2, int(which.sum())) == 1
        fresh = np.flatnonzero(which & self._is_o)
        pieces = self._luck.below(1 << BITS, len(fresh))
        games[fresh] = self._answers.after(np.zeros_like(fresh), pieces)

    def _look(self, games: Outcomes | Numbers) -> Faces:
        return look(self._faces, games, self._is_o if self._seat == EITHER and self._answers else None)

    def _new_faces(self) -> Faces:
        lookers = {"X": "X", "O": "O", EITHER: "both"}
        return faces_for(lookers[self._seat] if self._answers else "move")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_faces"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._faces = self._new_faces()  # all environments of a process have the same

    def _checked_actions(self, actions: NDArray[Any]) -> NDArray[Any]:
        if isinstance(actions, list | tuple) and any(
            isinstance(action, bool | np.bool_) for action in actions
        ):
            raise BadArray("actions are whole numbers, and not bool")  # beside numbers, they become some
        try:
            given = np.asarray(actions)
        except (TypeError, ValueError) as error:
            raise BadArray(f"{quoted(actions)} is no array of actions") from error
        if given.shape != (self.num_envs,):
            raise BadArray(f"there are {self.num_envs} games, and actions of the shape {given.shape}")
        if given.dtype.kind not in "iu":
            raise BadArray(f"actions are whole numbers, and not {given.dtype}")
        return given


@cache
def _all_ones(num_envs: int) -> Small:
    """Return the masks of games that are over: one byte, which nobody can write on."""
    return np.broadcast_to(np.int8(1), (num_envs, 9))


def _answers(opponent: str | Policy, seat: str) -> Answers:
    """Ask an opponent about every board on which it can be to move, once."""
    policy = find_opponent(opponent)
    if seat != "X":
        check_it_starts(policy)
    return Answers(policy, tuple(mark.other for mark in MARKS[seat]))


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
