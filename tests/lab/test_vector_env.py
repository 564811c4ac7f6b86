"""The vector environment: every position and action, both autoreset modes, and invalid input."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded, UnsupportedMode
from gymnasium.utils.passive_env_checker import check_obs
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import iterate
from gymnasium.wrappers.vector import (
    DictInfoToList,
    FlattenObservation,
    RecordEpisodeStatistics,
    TransformObservation,
)
from numpy.typing import NDArray

from noughts import Board, Mark, O, X, errors, reachable
from noughts.bots.odds import odds
from noughts.bots.policy import Policy
from noughts.bots.registry import find_policy
from noughts.lab import vector_env
from noughts.lab.envs import GYM_ID, TicTacToeEnv
from noughts.lab.observations import OWN, THEIRS, mask_of, observation_of
from noughts.lab.vector_env import TicTacToeVectorEnv
from support.lab_games import first_free, moves_to, places, resigning

Result = tuple[Any, Any, Any, Any, dict[str, Any]]

NEXT, SAME = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP
BOARDS = reachable()
NUMBERS = {board: number for number, board in enumerate(BOARDS)}
BITS = 1 << np.arange(9)

MISSHAPEN = [
    None,
    4,
    "123",
    [],
    [1, 2],
    [1, 2, 3, 4],
    [[1, 2, 3]],
    [[1], [2], [3]],
    [1, [2], 3],
    [None] * 3,
]

modes = pytest.mark.parametrize("mode", [NEXT, SAME], ids=str)


cached_table = cache(vector_env._opponent_table)  # noqa: SLF001 - it is slow to build


@cache
def made(
    opponent: str | Policy | None,
    mark: str,
    mode: AutoresetMode,
    games: int,
    mask_in: str | None = "info",
) -> Any:  # noqa: ANN401 - a TicTacToeVectorEnv, whose observations each test knows
    """Return an environment that tests share; each starts with a reset."""
    place = {} if mask_in is None else {"mask_in": mask_in}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_env, "_opponent_table", cached_table)
        return TicTacToeVectorEnv(games, opponent, mark, autoreset_mode=mode, **place)


@cache
def seen_by(mark: Mark | None) -> NDArray[np.int8]:
    """Return the observations of a mark, or of the player to move, in each position."""
    return np.array([observation_of(board, mark or board.turn) for board in BOARDS])


@cache
def masks() -> NDArray[np.int8]:
    """Return the masks of all positions."""
    return np.array([mask_of(board) for board in BOARDS])


def board_in(seen: NDArray[np.int8], mark: Mark) -> Board:
    """Read a board from a mark's observation."""
    own, theirs = (int(seen[..., plane].ravel() @ BITS) for plane in (OWN, THEIRS))
    return Board(own, theirs) if mark is X else Board(theirs, own)


def some_actions(
    rng: np.random.Generator, masked: dict[str, Any], illegal: float = 0
) -> NDArray[np.int64]:
    """Draw an action for each game: legal, or any with the chance `illegal`."""
    mask = masked["action_mask"]
    legal = (rng.random(mask.shape) * mask).argmax(1)
    return np.where(rng.random(len(mask)) < illegal, rng.integers(-1, 10, len(mask)), legal)


def written(result: Any) -> list[bytes]:  # noqa: ANN401 - the result of a reset or a step
    """Return the bytes of all arrays in a result."""
    return [array.tobytes() for array in arrays_in(result)]


def arrays_in(value: Any) -> list[NDArray[Any]]:  # noqa: ANN401 - the result of a reset or a step
    """Return all arrays in a result."""
    if isinstance(value, np.ndarray):
        return [value]
    inner = value.values() if isinstance(value, dict) else value
    return [array for each in inner for array in arrays_in(each)]


def masked_part(result: Any) -> dict[str, Any]:  # noqa: ANN401 - the result of a reset or a step
    """Return the part that has the mask: the infos or the observation, not both."""
    found: list[dict[str, Any]] = [
        part for part in (result[0], result[-1]) if isinstance(part, dict) and "action_mask" in part
    ]
    assert len(found) == 1
    return found[0]


def played(env: TicTacToeVectorEnv, seed: int | None, steps: int = 12) -> list[list[bytes]]:
    """Return the bytes of a whole run."""
    rng = np.random.default_rng(1)
    result: Any = env.reset(seed=seed)
    said = [written(result)]
    for _ in range(steps):
        result = env.step(some_actions(rng, masked_part(result), illegal=0.2))
        said.append(written(result))
    return said


def led_to(cases: list[tuple[Board, int]], mode: AutoresetMode) -> Result:
    """Lead a game to each position, and take the action there."""
    env = TicTacToeVectorEnv(len(cases), None, autoreset_mode=mode, mask_in="info")
    env.reset()
    for moves in zip(*[moves_to()[board] for board, _ in cases], strict=True):
        *_, infos = env.step(np.array(moves))
        assert not infos["illegal"].any()
    return env.step(np.array([action for _, action in cases]))


@modes
@pytest.mark.parametrize("tokens", range(9))
def test_every_action_in_every_position_matches_the_core(tokens: int, mode: AutoresetMode) -> None:
    boards = [board for board in BOARDS if board.count == tokens and not board.is_over]
    cases = [(board, action) for board in boards for action in range(10)]

    seen, rewards, terminated, truncated, infos = led_to(cases, mode)

    illegal = np.array([action not in board.free_cells for board, action in cases])
    after = [board.place(action) if action in board.free_cells else board for board, action in cases]
    over = illegal | [board.is_over for board in after]
    position = np.array([NUMBERS[board] for board in after])
    assert np.array_equal(infos["illegal"], illegal)
    assert np.array_equal(terminated, over)
    assert np.array_equal(rewards, np.where(illegal, -1, [board.winner is not None for board in after]))
    assert not truncated.any()
    if mode is SAME:
        assert np.array_equal(infos["_final_obs"], over)
        assert np.array_equal(infos["final_obs"][over], seen_by(None)[position[over]])
        position[over] = 0
    assert np.array_equal(seen, seen_by(None)[position])
    assert np.array_equal(infos["action_mask"], masks()[position] | over[:, None])
    assert np.array_equal(infos["position"], position)


class Follower:
    """Follows one game of a batch, and checks it against the rules."""

    def __init__(self, policy: Policy, mark: str, mode: AutoresetMode) -> None:
        self.policy, self.wanted, self.mode = policy, mark, mode
        self.mark, self.board, self.is_over = X, Board(), False
        self.ends: list[tuple[Mark, float]] = []

    def begin(self, seen: NDArray[np.int8], mask: NDArray[np.int8], position: int) -> None:
        self.board, self.is_over = BOARDS[position], False
        self.mark = O if self.board.count else X
        assert str(self.mark) == self.wanted or self.wanted == "either"
        if self.mark is O:
            assert self.policy(Board())[self.board.x.bit_length() - 1] > 0
        self.look(seen, mask)

    def look(self, seen: NDArray[np.int8], mask: NDArray[np.int8]) -> None:
        position = NUMBERS[self.board]
        assert seen.tobytes() == seen_by(self.mark)[position].tobytes()
        assert mask.tobytes() == (masks()[position] | self.is_over).tobytes()

    def step(self, action: int, result: Result) -> None:
        seen, reward, terminated, truncated, infos = result
        assert not truncated
        if self.is_over:
            assert (reward, terminated, infos["illegal"]) == (0, False, False)
            self.begin(seen, infos["action_mask"], infos["position"])
            return
        at_once = terminated and self.mode is SAME
        after = board_in(infos["final_obs"], self.mark) if at_once else BOARDS[infos["position"]]
        assert (reward, terminated, infos["illegal"]) == self.judged(action, after)
        self.board, self.is_over = after, bool(terminated)
        if terminated:
            self.ends.append((self.mark, reward))
        if at_once:
            self.begin(seen, infos["action_mask"], infos["position"])
        else:
            self.look(seen, infos["action_mask"])

    def judged(self, action: int, after: Board) -> tuple[int, bool, bool]:
        """Return the expected reward, end and illegal flag, after checking the next board."""
        if action not in self.board.free_cells:
            assert after is self.board
            return -1, True, True
        middle = self.board.place(action)
        if middle.is_over or not (answers := self.policy(middle)):
            assert after is middle
            return int(middle.winner is self.mark or not middle.is_over), True, False
        assert after in [middle.place(cell) for cell, chance in answers.items() if chance]
        return (after.winner is self.mark) - (after.winner is self.mark.other), after.is_over, False


def one_of(result: Result, game: int) -> Result:
    """Return one game's part of a result."""
    *arrays, infos = result
    seen, reward, terminated, truncated = (array[game] for array in arrays)
    return seen, reward, terminated, truncated, {key: value[game] for key, value in infos.items()}


@pytest.mark.parametrize(
    ("opponent", "mark", "mode"),
    [
        ("club", "X", NEXT),
        ("club", "O", NEXT),
        ("random", "either", NEXT),
        ("random", "either", SAME),
        (resigning(at=4), "X", SAME),
        (resigning(at=4), "O", NEXT),
        (resigning(at=3), "X", NEXT),
    ],
    ids=["X", "O", "either, next step", "either, same step", "resigning O", "resigning X", "soon"],
)
def test_every_game_of_a_run_follows_the_rules(
    opponent: str | Policy, mark: str, mode: AutoresetMode
) -> None:
    policy = find_policy(opponent) if isinstance(opponent, str) else opponent
    env, rng = made(opponent, mark, mode, 40), np.random.default_rng(2)
    followers = [Follower(policy, mark, mode) for _ in range(40)]
    seen, infos = env.reset(seed=2)
    for game, follower in enumerate(followers):
        follower.begin(seen[game], infos["action_mask"][game], infos["position"][game])
    for _ in range(30):
        actions = some_actions(rng, infos, illegal=0.1)
        result: Any = env.step(actions)
        infos = result[4]
        for game, follower in enumerate(followers):
            follower.step(int(actions[game]), one_of(result, game))
    ends = {end for follower in followers for end in follower.ends}
    marks = (X, O) if mark == "either" else (Mark(mark),)
    rewards = (-1, 0, 1) if isinstance(opponent, str) else (-1, 1)
    assert ends == {(each, reward) for each in marks for reward in rewards}


@pytest.mark.parametrize("mark", ["X", "O"])
def test_without_chance_games_go_as_in_the_single_environment(mark: str) -> None:
    env, rng = made(first_free, mark, NEXT, 20), np.random.default_rng(3)
    singles: list[Any] = [TicTacToeEnv(first_free, mark, mask_in="info") for _ in range(20)]
    seen, infos = env.reset(seed=1)
    assert np.array_equal(seen, [single.reset()[0] for single in singles])
    over = np.zeros(20, bool)
    for _ in range(30):
        actions = some_actions(rng, infos, illegal=0.1)
        result: Any = env.step(actions)
        infos = result[4]
        for game, single in enumerate(singles):
            first, *rest = single.reset() if over[game] else single.step(int(actions[game]))
            *ends, expected = (0, False, False, *rest) if over[game] else rest
            seen, *found, info = one_of(result, game)
            assert np.array_equal(seen, first)
            assert found == ends
            assert all(np.array_equal(value, expected[key]) for key, value in info.items())
        over = result[2]


def test_results_are_as_frequent_as_the_exact_odds() -> None:
    games, rng = 3000, np.random.default_rng(4)
    env = made("club", "either", NEXT, games)
    _, infos = env.reset(seed=4)
    is_x = infos["position"] == 0
    results, over = np.zeros(games), np.zeros(games, np.bool_)
    while not over.all():
        _, rewards, terminated, _, infos = env.step(some_actions(rng, infos))
        results[terminated & ~over] = rewards[terminated & ~over]
        over |= terminated
    assert abs(is_x.sum() - games / 2) < 5 * (games / 4) ** 0.5
    even, club = find_policy("random"), find_policy("club")
    for mark, mine in ((X, is_x), (O, ~is_x)):
        exact = odds(even, club) if mark is X else odds(club, even)
        for reward, chance in ((1, exact.win(mark)), (0, exact.draw)):
            expected, size = float(chance) * mine.sum(), mine.sum()
            deviation = (size * float(chance) * (1 - float(chance))) ** 0.5
            assert abs((results[mine] == reward).sum() - expected) < 5 * deviation


def test_the_opponent_replies_with_its_exact_chances() -> None:
    games = 3000
    env = made("club", "either", NEXT, games)
    _, infos = env.reset(seed=5)
    is_o = infos["position"] > 0
    begun = [BOARDS[number].x for number in infos["position"][is_o]]
    *_, infos = env.step(np.zeros(games, np.int64))
    answered = [BOARDS[number].o for number in infos["position"][~is_o]]
    for tokens, board in ((begun, Board()), (answered, Board().place(0))):
        for cell, share in find_policy("club")(board).items():
            chance, size = float(share), len(tokens)
            spread = 5 * (size * chance * (1 - chance)) ** 0.5
            assert abs(tokens.count(1 << cell) - size * chance) <= spread


def after_three_ends(mode: AutoresetMode) -> tuple[Any, NDArray[np.int8], dict[str, Any]]:
    """Return an environment that has just ended three of four games, and what it returned last."""
    env = made(None, "X", mode, 4)
    env.reset()
    for cell in (0, 3, 1, 4):
        env.step(np.full(4, cell))
    seen, rewards, terminated, _, infos = env.step(np.array([2, 2, 0, 8]))
    assert (rewards.tolist(), terminated.tolist()) == ([1, 1, -1, 0], [True, True, True, False])
    assert infos["illegal"].tolist() == [False, False, True, False]
    return env, seen, infos


def test_next_step_mode_restarts_whatever_the_action() -> None:
    env, _, infos = after_three_ends(NEXT)
    assert infos["action_mask"].all(1).tolist() == [True, True, True, False]

    seen, rewards, terminated, truncated, infos = env.step(np.array([2, 10**9, -1, 0]))

    assert rewards.tolist() == [0, 0, 0, -1]
    assert terminated.tolist() == infos["illegal"].tolist() == [False, False, False, True]
    assert not truncated.any()
    assert infos["position"][:3].tolist() == [0, 0, 0]
    assert np.array_equal(seen[0], observation_of(Board(), X))
    _, rewards, terminated, _, infos = env.step(np.array([8, 8, 8, 8]))
    assert not np.any([rewards, terminated, infos["illegal"]])
    assert infos["position"].tolist() == [NUMBERS[Board().place(8)]] * 3 + [0]


def test_same_step_mode_restarts_and_reports_the_end() -> None:
    env, seen, infos = after_three_ends(SAME)

    assert infos["_final_obs"].tolist() == [True, True, True, False]
    assert str(board_in(infos["final_obs"][0], O)) == "XXX/OO_/___"
    assert str(board_in(infos["final_obs"][2], X)) == "XX_/OO_/___"
    assert np.array_equal(seen[0], observation_of(Board(), X))
    assert infos["position"][:3].tolist() == [0, 0, 0]
    _, rewards, terminated, _, infos = env.step(np.array([8, 8, 8, 2]))
    assert not np.any([rewards, terminated, infos["illegal"], infos["_final_obs"]])
    assert infos["position"][:3].tolist() == [NUMBERS[Board().place(8)]] * 3


@modes
@pytest.mark.parametrize(
    ("opponent", "mark"), [(None, "X"), ("random", "X"), ("club", "O"), ("random", "either")]
)
def test_the_mask_is_in_the_observation_or_in_the_info(
    opponent: str | None, mark: str, mode: AutoresetMode
) -> None:
    rng, games = np.random.default_rng(6), 40
    env = made(opponent, mark, mode, games, None)
    other = made(opponent, mark, mode, games, "info")
    result, expected = env.reset(seed=6), other.reset(seed=6)
    ended = np.zeros(games, np.bool_)
    for _ in range(30):
        (seen, *said, infos), (planes, *expected_said, expected_infos) = result, expected
        mask = expected_infos.pop("action_mask")
        assert seen.keys() == {"observation", "action_mask"}
        assert np.array_equal(seen["observation"], planes)
        assert np.array_equal(seen["action_mask"], mask)
        assert written(said) == written(expected_said)
        if "final_obs" in infos:
            last, ended = infos.pop("final_obs"), infos["_final_obs"]
            assert np.array_equal(last["observation"], expected_infos.pop("final_obs"))
            assert last["action_mask"].shape == mask.shape
            assert last["action_mask"][ended].all()
        assert infos.keys() == expected_infos.keys()
        assert written(infos) == written(expected_infos)
        actions = some_actions(rng, seen, illegal=0.1)
        result, expected = env.step(actions), other.step(actions)


@modes
@pytest.mark.parametrize(
    "bad",
    [4, 0, -1, 9, 15, 16, 10**9, -(2**63), 2**63 - 1, np.uint64(2**64 - 1), np.uint64(2**63 + 8)],
    ids=str,
)
def test_an_illegal_action_only_loses_its_own_game(bad: int, mode: AutoresetMode) -> None:
    env = made(first_free, "X", mode, 3)
    env.reset()
    env.step(np.array([4, 4, 4]))

    seen, rewards, terminated, truncated, infos = env.step(np.array([8, bad, 8], np.asarray(bad).dtype))

    assert (rewards.tolist(), terminated.tolist()) == ([0, -1, 0], [False, True, False])
    assert infos["illegal"].tolist() == [False, True, False]
    assert not truncated.any()
    end = infos["final_obs"][1] if mode is SAME else seen[1]
    assert str(board_in(end, X)) == "O__/_X_/___"
    if mode is NEXT:
        assert BOARDS[infos["position"][1]] is board_in(end, X)
    assert {str(board_in(seen[game], X)) for game in (0, 2)} == {"OO_/_X_/__X"}


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u4", "i4", "i8", "u8", ">i8", ">u2"])
def test_integers_of_every_type_are_actions(kind: str) -> None:
    env = TicTacToeVectorEnv(3, None)
    env.reset()

    actions = np.array([4, 8, 9], kind)
    *_, infos = env.step(actions)

    assert infos["illegal"].tolist() == [False, False, True]
    assert [str(BOARDS[number]) for number in infos["position"][:2]] == ["___/_X_/___", "___/___/__X"]
    assert actions.tolist() == [4, 8, 9]
    env.reset()
    for same in (np.repeat(actions, 2)[::2], actions.tolist()):
        env.reset()
        assert np.array_equal(env.step(same)[4]["position"], infos["position"])


@pytest.mark.parametrize(
    "bad",
    [*MISSHAPEN, [1.0, 2.0, 3.0], [True, False, True], [True, 1, 2], ["1", "2", "3"], [2**70, 1, 2]],
    ids=str,
)
def test_invalid_actions_are_refused(bad: Any) -> None:  # noqa: ANN401 - any value
    env, twin = TicTacToeVectorEnv(3, None), TicTacToeVectorEnv(3, None)
    for each in (env, twin):
        each.reset()
        each.step(np.array([4, 4, 4]))

    with pytest.raises(errors.BadArray, match="actions"):
        env.step(bad)
    assert written(env.step(np.array([0, 1, 4]))) == written(twin.step(np.array([0, 1, 4])))


def test_step_and_render_need_games() -> None:
    env, unseen = TicTacToeVectorEnv(2, None, render_mode="ansi"), TicTacToeVectorEnv(2, None)
    for attempt in (lambda: env.step(np.array([0, 0])), env.render, unseen.render):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            attempt()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"opponent": "grandmaster"}, errors.UnknownPolicy, "policy 'grandmaster'"),
        ({"opponent": "club:luck=1"}, errors.NoughtsError, "club has no 'luck'"),
        (
            {"opponent": "saved:file=q"},
            errors.UnknownPolicy,
            r"load_policy\(PATH\), not the name 'saved:f",
        ),
        ({"opponent": 5}, errors.UnknownPolicy, "a policy or a function from boards to chances, not 5"),
        ({"mark": "Y"}, errors.BadSetting, "a mark is X, O, either, not 'Y'"),
        ({"mark": 5}, errors.BadSetting, "a mark is X, O, either, not 5"),
        ({"render_mode": "window"}, UnsupportedMode, "'window'"),
        ({"mask_in": "rewards"}, errors.BadSetting, "mask_in is observation or info, not 'rewards'"),
        ({"mask_in": None}, errors.BadSetting, "mask_in is observation or info, not None"),
    ],
)
def test_both_environments_refuse_invalid_settings(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    refusals = []
    for make in (TicTacToeEnv, TicTacToeVectorEnv):
        with pytest.raises(error, match=message) as refusal:
            make(**settings)
        refusals.append(repr(refusal.value))
    assert refusals[0] == refusals[1]


def test_the_settings_are_those_of_the_single_environment_and_a_mark_may_be_a_mark() -> None:
    ours = inspect.signature(TicTacToeVectorEnv).parameters
    assert {*inspect.signature(TicTacToeEnv).parameters} <= {*ours}
    one, two = TicTacToeEnv(mark=O), TicTacToeVectorEnv(2, mark=O)
    for env in (one, two):
        seen: Any = env.reset()[0]
        assert seen["observation"][..., THEIRS].sum() == getattr(env, "num_envs", 1)


SIZES = [0, -1, 1.5, 10**9, "8", None, 10**30]
MODES = ["Disabled", AutoresetMode.DISABLED, "next", None, 5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *[({"num_envs": size}, "is not a number of games: use 1 to 10,000,000") for size in SIZES],
        *[({"autoreset_mode": mode}, r"NEXT_STEP or AutoresetMode\.SAME_STEP, not") for mode in MODES],
    ],
    ids=str,
)
def test_invalid_sizes_and_modes_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.BadSetting, match=message):
        TicTacToeVectorEnv(opponent=None, **settings)
    for known in (NEXT, SAME):
        assert TicTacToeVectorEnv(2, None, autoreset_mode=known.value).metadata["autoreset_mode"] is known


def test_an_invalid_opponent_is_refused_at_once() -> None:
    with pytest.raises(errors.BadPolicy, match="chances add up to 1"):
        TicTacToeVectorEnv(2, lambda board: {board.free_cells[0]: Fraction(1, 2)})
    for mark in ("O", "either"):
        with pytest.raises(errors.BadPolicy, match="resigns before the first move"):
            TicTacToeVectorEnv(2, resigning(at=0), mark)
    env = made(resigning(at=1), "X", NEXT, 2)
    env.reset()
    assert env.step(np.array([4, 4]))[1].tolist() == [1, 1]


@pytest.mark.parametrize("mark", ["X", "O"])
def test_an_opponent_is_only_queried_on_its_own_turns(mark: str) -> None:

    def one_sided(board: Board) -> Mapping[int, Fraction]:
        assert str(board.turn) != mark
        return first_free(board)

    env, both = TicTacToeVectorEnv(40, one_sided, mark), TicTacToeVectorEnv(40, first_free, mark)

    assert played(env, seed=1) == played(both, seed=1)
    with pytest.raises(errors.BadPolicy, match="a policy fails in"):
        TicTacToeVectorEnv(40, one_sided, "either")


def test_reset_mask_is_refused() -> None:
    env, twin = (TicTacToeVectorEnv(3, None) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=1)
        each.step(np.array([4, 4, 4]))

    with pytest.raises(errors.BadSetting, match="reset_mask is not supported"):
        env.reset(seed=2, options={"reset_mask": np.array([True, False, False])})
    assert written(env.step(np.array([0, 1, 4]))) == written(twin.step(np.array([0, 1, 4])))


@modes
@pytest.mark.parametrize(("opponent", "mark"), [("club", "either"), ("random", "X"), (None, "X")])
def test_games_can_be_copied_and_pickled(opponent: str | None, mark: str, mode: AutoresetMode) -> None:
    env = made(opponent, mark, mode, 40)
    for steps in (3, 4):  # with and without buffered random numbers
        played(env, seed=2, steps=steps)
        twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301 - our own

        steps_of_twins = [next_steps(twin) for twin in twins]

        assert steps_of_twins == [next_steps(env)] * 2


def next_steps(env: TicTacToeVectorEnv) -> list[list[bytes]]:
    """Return the bytes of the next steps."""
    rng = np.random.default_rng(3)
    return [written(env.step(rng.integers(9, size=env.num_envs))) for _ in range(10)]


@modes
def test_a_seed_determines_a_run(mode: AutoresetMode) -> None:
    env = made("random", "either", mode, 40)

    first, other, again = played(env, seed=5), played(env, seed=6), played(env, seed=5)

    assert first == again != other
    assert played(env, seed=None) != played(env, seed=None)
    for seed in (-1, 1.5, "x"):
        with pytest.raises(gymnasium.error.Error, match=r"[Ss]eed"):
            env.reset(seed=seed)


@modes
@places
@pytest.mark.parametrize(("opponent", "mark"), [(None, "X"), ("random", "either")])
def test_arrays_never_change_later_and_may_be_overwritten(
    opponent: str | None, mark: str, mask_in: str, mode: AutoresetMode
) -> None:
    env, rng, kept = made(opponent, mark, mode, 40, mask_in), np.random.default_rng(1), []
    expected = played(env, seed=7)
    result: Any = env.reset(seed=7)
    for said in expected:
        assert written(result) == said
        kept.append((result, said))
        result = env.step(some_actions(rng, masked_part(result), illegal=0.2))
    assert [written(result) for result, _ in kept] == expected

    rng = np.random.default_rng(1)
    result = env.reset(seed=7)
    for said in expected:
        assert written(result) == said
        actions = some_actions(rng, masked_part(result), illegal=0.2)
        for array in arrays_in(result):
            if array.flags.writeable:
                array[...] = 1
            else:  # the masks of finished games
                assert array is result[-1]["final_obs"]["action_mask"]
        result = env.step(actions)


def test_observation_and_mask_do_not_share_memory() -> None:
    env = made(None, "X", NEXT, 40, "observation")
    for seen, *_ in (env.reset(), env.step(np.full(40, 4))):
        mask = seen["action_mask"].copy()
        seen["observation"][:] = 7
        assert np.array_equal(seen["action_mask"], mask)


def test_gymnasium_makes_it_by_name_and_with_settings() -> None:
    env = gymnasium.make_vec(f"noughts.lab.envs:{GYM_ID}", num_envs=8)

    assert isinstance(env.unwrapped, TicTacToeVectorEnv)
    assert env.num_envs == 8
    assert env.spec is not None
    assert env.spec.id == GYM_ID
    assert env.metadata["autoreset_mode"] is NEXT
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert str(env) == f"TicTacToeVectorEnv({GYM_ID}, num_envs=8)"
    assert gymnasium.make_vec(env.spec).num_envs == 8
    env.close()
    env.close()
    assert env.closed

    env = gymnasium.make_vec(GYM_ID, 3, opponent=None, mark="O", autoreset_mode=SAME, render_mode="ansi")
    assert (env.metadata["autoreset_mode"], env.render_mode) == (SAME, "ansi")
    with pytest.raises(gymnasium.error.Error, match="vector_kwargs"):
        gymnasium.make_vec(GYM_ID, 3, vector_kwargs={"autoreset_mode": SAME})
    sync = gymnasium.make_vec(GYM_ID, 3, "sync", {"autoreset_mode": SAME}, opponent="perfect")
    ours, theirs = env.reset(seed=1), sync.reset(seed=1)
    shapes = [{key: part.shape for key, part in seen.items()} for seen in (ours[0], theirs[0])]
    assert shapes[0] == shapes[1]
    assert {*theirs[1]} >= {*ours[1]}


def test_final_observations_match_gymnasiums_own() -> None:
    env: Any = made(first_free, "X", SAME, 3, "observation")
    sync: Any = gymnasium.make_vec(GYM_ID, 3, "sync", {"autoreset_mode": SAME}, opponent=first_free)
    results = []
    for each in (env, sync):
        each.reset()
        each.step(np.array([4, 5, 8]))
        results.append(each.step(np.array([4, 9, 2]))[4])
    ours, theirs = results
    assert ours["_final_obs"].tolist() == theirs["_final_obs"].tolist() == [True, True, False]
    for game in (0, 1):
        for key, part in theirs["final_obs"][game].items():
            assert np.array_equal(ours["final_obs"][key][game], part)
    lists = DictInfoToList(env)
    lists.reset()
    infos = lists.step(np.array([9, 0, 0]))[4]
    assert [info.get("final_obs", {}).keys() for info in infos] == [
        {"observation", "action_mask"},
        set(),
        set(),
    ]


@modes
@places
def test_observations_are_in_their_space(mask_in: str, mode: AutoresetMode) -> None:
    env, rng = made("random", "either", mode, 40, mask_in), np.random.default_rng(1)
    seen, infos = env.reset(seed=8)
    for _ in range(12):
        check_obs(seen, env.observation_space, "step")
        check_obs(next(iterate(env.observation_space, seen)), env.single_observation_space, "step")
        assert env.observation_space.contains(seen)
        mask = masked_part((seen, infos))["action_mask"]
        assert mask.dtype == np.int8
        actions = some_actions(rng, {"action_mask": mask})
        assert env.action_space.contains(actions)
        seen, rewards, terminated, truncated, infos = env.step(actions)
        assert not infos["illegal"].any()
        assert rewards.dtype.kind == "f"
        assert terminated.dtype == truncated.dtype == np.bool_
    env.action_space.seed(1)
    mask = masked_part((seen, infos))["action_mask"]
    drawn: Any = env.action_space.sample(mask=tuple(mask))
    assert not env.step(drawn)[4]["illegal"].any()
    assert env.single_action_space.sample(mask=mask[0]) in range(9)


@modes
def test_gymnasium_counts_returns_and_lengths_correctly(mode: AutoresetMode) -> None:
    env = RecordEpisodeStatistics(made(None, "X", mode, 4, "observation"), buffer_length=100)
    seen, _ = env.reset()
    for _ in range(40):
        seen, *_ = env.step(seen["action_mask"].argmax(1))
    assert {*env.length_queue} == {7}
    assert {*env.return_queue} == {1}
    assert env.episode_count == 4 * (40 // (7 if mode is SAME else 8))


def test_gymnasiums_wrappers_work() -> None:
    env = made(None, "X", NEXT, 4, "observation")
    for seen_so, size in ((env, 9 + 27), (made(None, "X", NEXT, 4), 27)):
        flat = FlattenObservation(seen_so)
        assert flat.reset()[0].shape == (4, size)
        assert flat.step(np.zeros(4, np.int64))[0].shape == (4, size)
    swapped = TransformObservation(env, lambda seen: seen["observation"][..., [1, 0, 2]])
    assert swapped.reset()[0].shape == (4, 3, 3, 3)
    assert swapped.step(np.zeros(4, np.int64))[0][..., OWN].sum() == 4
    with pytest.raises(ValueError, match="NEXT_STEP"):
        FlattenObservation(made(None, "X", SAME, 4, "observation"))
    lists = DictInfoToList(made(None, "X", SAME, 4, "observation"))
    lists.reset()
    infos = lists.step(np.zeros(4, np.int64))[4]
    assert [{*info} for info in infos] == [{"position", "illegal"}] * 4


def test_each_mode_renders_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    texts, pictures, screen, nothing = (
        TicTacToeVectorEnv(2, None, render_mode=mode) for mode in ("ansi", "rgb_array", "human", None)
    )
    for env in (texts, pictures, screen, nothing):
        env.reset()
        env.step(np.array([0, 8]))

    assert texts.render() == ("X| |\n-+-+-\n | |\n-+-+-\n | |", " | |\n-+-+-\n | |\n-+-+-\n | |X")
    assert [picture.shape for picture in pictures.render() or ()] == [(360, 360, 3)] * 2
    assert capsys.readouterr().out == ""
    screen.render()
    assert capsys.readouterr().out == "\n\n".join([*(texts.render() or ()), ""])
    assert nothing.render() is None
