"""The Gymnasium environment: Gymnasium's own checker, opponents, and invalid input."""

from __future__ import annotations

import copy
import doctest
import pickle
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from noughts import Board, Mark, O, X, errors, reachable
from noughts.bots.ladder import perfect
from noughts.bots.policy import Policy
from noughts.bots.registry import find_policy
from noughts.lab.envs import GYM_ID, TicTacToeEnv, register
from noughts.lab.gym_env import _below
from noughts.lab.observations import OWN, THEIRS
from support.lab_games import first_free, places, resigning

PAGE = Path(__file__).parents[2] / "docs" / "environments.md"


def played(env: TicTacToeEnv, seed: int, games: int = 3) -> list[object]:
    """Return everything visible of some games in which the agent takes the last free cell."""
    seen: list[object] = []
    for number in range(games):
        observation, info = env.reset(seed=None if number else seed)
        seen.append((str(observation), str(info)))
        over = False
        while not over:
            observation, reward, over, truncated, info = env.step(env.board.free_cells[-1])
            seen.append((str(observation), reward, over, truncated, str(info)))
    return seen


@places
@pytest.mark.parametrize(
    ("opponent", "mark"), [*product(("random", "perfect"), ("X", "O")), ("club", "either")]
)
def test_check_env_passes_without_warnings(
    opponent: str, mark: str, mask_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_env(gymnasium.make(GYM_ID, opponent=opponent, mark=mark, mask_in=mask_in).unwrapped)

    assert set(capsys.readouterr().out) <= set("XO|-+ \n")


def test_it_works_within_gymnasiums_wrappers() -> None:
    env = gymnasium.make(GYM_ID, render_mode="ansi_list")
    for seed in range(20):
        seen, info = env.reset(seed=seed)
        env.action_space.seed(seed)
        over = False
        while not over:
            seen, _, over, _, info = env.step(env.action_space.sample(seen["action_mask"]))
        assert not info["illegal"]
    assert len(env.render() or []) > 2


def test_it_is_registered_once() -> None:
    register()

    spec = gymnasium.spec(GYM_ID)
    assert spec.id == "noughts/TicTacToe-v1"
    assert spec.vector_entry_point == "noughts.lab.vector_env:TicTacToeVectorEnv"


@pytest.mark.parametrize("mark", ["X", "O", "either"])
def test_a_seed_determines_a_run(mark: str) -> None:
    runs = [played(TicTacToeEnv("random", mark), seed) for seed in (5, 5, 6)]

    assert runs[0] == runs[1] != runs[2]


def test_either_mark_is_drawn() -> None:
    env: Any = TicTacToeEnv(mark="either")
    env.reset(seed=1)

    drawn = []
    for _ in range(20):
        seen, _ = env.reset()
        drawn.append(env.mark)
        assert seen["observation"][..., THEIRS].sum() == (env.mark is O)
        seen, *_ = env.step(int(seen["action_mask"].argmax()))
        assert seen["observation"][..., OWN].sum() == 1
    assert {*drawn} == {X, O}


@places
@pytest.mark.parametrize("mark", ["X", "O"])
def test_observations_masks_and_rewards_match_the_core(mark: str, mask_in: str) -> None:
    env: Any = TicTacToeEnv("random", mark, mask_in=mask_in)
    rng, boards = np.random.default_rng(1), reachable()
    env.reset(seed=1)
    own, theirs = ("x", "o") if mark == "X" else ("o", "x")
    seen = set()
    for _ in range(1000):
        observation, info = env.reset()
        reward, over = 0.0, False
        while True:
            board = boards[info["position"]]
            seen.add(board)
            legal = range(9) if over else board.free_cells
            assert board is env.board
            assert over == board.is_over
            if mask_in == "observation":
                assert observation.keys() == {"observation", "action_mask"}
                observation, mask = observation["observation"], observation["action_mask"]
                assert "action_mask" not in info
            else:
                mask = info["action_mask"]
            assert mask.tolist() == [int(cell in legal) for cell in range(9)]
            assert mask.dtype == observation.dtype == np.int8
            assert env.action_masks().dtype == np.bool_
            assert env.action_masks().tolist() == [cell in legal for cell in range(9)]
            for plane, name in ((OWN, own), (THEIRS, theirs)):
                held = getattr(board, name)
                assert observation[..., plane].ravel().tolist() == [held >> cell & 1 for cell in range(9)]
            assert reward == (board.winner is not None) * (1 if board.winner is Mark(mark) else -1)
            if over:
                break
            observation, reward, over, _, info = env.step(int(rng.choice(board.free_cells)))
    assert len(seen) > 800


def test_the_opponent_plays_with_its_exact_chances() -> None:
    env, policy = TicTacToeEnv("club"), find_policy("club")
    chances = policy(Board().place(0))
    env.reset(seed=1)
    games, counts = 4000, dict.fromkeys(range(9), 0)
    for _ in range(games):
        env.reset()
        env.step(0)
        counts[env.board.o.bit_length() - 1] += 1
    for cell, count in counts.items():
        chance = float(chances.get(cell, 0))
        assert abs(count - games * chance) <= 5 * (games * chance * (1 - chance)) ** 0.5


def test_integers_of_any_size_are_drawn_uniformly() -> None:
    rng = np.random.default_rng(1)
    total = 3 * 10**30

    drawn = [_below(rng, total) for _ in range(3000)]
    assert all(0 <= number < total for number in drawn)
    for third in range(3):
        assert 850 < sum(number * 3 // total == third for number in drawn) < 1150
    before = rng.bit_generator.state
    assert _below(rng, 1) == 0
    assert rng.bit_generator.state == before


def test_an_opponent_that_resigns_loses() -> None:
    env: Any = TicTacToeEnv(resigning(at=3))
    env.reset()
    env.step(4)

    seen, reward, terminated, truncated, info = env.step(8)

    assert (reward, terminated, truncated, info["resigned"]) == (1, True, False, True)
    assert str(env.board) == "O__/_X_/__X"
    assert seen["observation"][..., OWN].sum() == 2
    assert seen["action_mask"].all()
    with pytest.raises(ResetNeeded):
        env.step(1)
    env = TicTacToeEnv(resigning(at=0), mark="O")
    for _ in range(2):
        assert env.reset()[1]["resigned"] is True  # the game ends with the first legal move
        _, reward, terminated, _, info = env.step(4)
        assert (reward, terminated, info["resigned"]) == (1, True, True)


@pytest.mark.parametrize("action", [0, 4, 9, -1, 10**9, -(10**30)])
def test_an_illegal_move_loses(action: int) -> None:
    env: Any = TicTacToeEnv(first_free)
    env.reset()
    env.step(4)

    seen, reward, terminated, truncated, info = env.step(action)

    assert (reward, terminated, truncated, info["illegal"]) == (-1, True, False, True)
    assert str(env.board) == "O__/_X_/___"
    assert seen["observation"].sum() == seen["action_mask"].sum() == env.action_masks().sum() == 9
    with pytest.raises(ResetNeeded):
        env.step(1)


@pytest.mark.parametrize(
    "action", [4.0, True, None, "4", [4], np.array([1, 2]), np.float64(1), float("inf")], ids=str
)
def test_an_action_that_is_not_an_integer_is_refused(action: Any) -> None:  # noqa: ANN401 - any value
    env = TicTacToeEnv(first_free)
    env.reset()
    env.step(4)

    with pytest.raises(errors.NoSuchCell, match="is not a cell: cells are 0 to 8"):
        env.step(action)
    assert str(env.board) == "O__/_X_/___"
    _, reward, terminated, _, _ = env.step(np.int8(8))  # type: ignore[arg-type]  # any integer type
    assert (reward, terminated) == (0, False)


def test_step_render_and_masks_need_a_game() -> None:
    env: Any = TicTacToeEnv(first_free, mark="O", render_mode="ansi")
    for attempt in (lambda: env.step(0), env.render, env.action_masks):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            attempt()
    env.reset()
    for cell in (2, 4, 6):
        env.step(cell)
    assert env.render() == "X|X|O\n-+-+-\nX|O|\n-+-+-\nO| |"
    assert env.action_masks().all()
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        env.step(8)
    assert env.reset()[0]["observation"].sum() == 9


def test_an_opponent_that_fails_in_reset_leaves_no_game() -> None:
    share = [Fraction(1)]
    env = TicTacToeEnv(lambda board: {board.free_cells[0]: share[0]}, "either")
    seeds = {}
    for seed in range(9):
        env.reset(seed=seed)
        seeds[env.mark] = seed
    env.reset(seed=seeds[X])
    env.step(4)
    share[0] = Fraction(1, 2)

    with pytest.raises(errors.BadPolicy, match="chances add up to 1"):
        env.reset(seed=seeds[O])
    with pytest.raises(ResetNeeded):
        env.step(8)
    share[0] = Fraction(1)
    env.reset()
    assert env.step(8)[1:3] == (0, False)


@pytest.mark.parametrize(
    "opponent", ["club:block=1/3", "perfect", "menace", perfect, find_policy("novice")]
)
def test_a_game_can_be_copied_and_pickled(opponent: Policy | str) -> None:
    env = TicTacToeEnv(opponent, "either")
    env.reset(seed=7)
    env.step(env.board.free_cells[-1])
    before = env.board
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301 - our own

    rests = [[rest_of_run(twin) for _ in range(3)] for twin in twins]

    assert env.board == before
    assert rests == [[rest_of_run(env) for _ in range(3)]] * 2


def rest_of_run(env: TicTacToeEnv) -> list[object]:
    """Return everything visible until the end of a game, and the start of another."""
    seen: list[object] = []
    over = False
    while not over:
        observation, reward, over, _, info = env.step(env.board.free_cells[-1])
        seen.append((str(observation), reward, over, str(info)))
    return [*seen, str(env.reset())]


def test_an_opponent_that_fails_in_step_changes_nothing() -> None:
    env = TicTacToeEnv(lambda board: {0: Fraction(1)} if board.count < 2 else {4: Fraction(1, 2)})
    env.reset()
    env.step(4)

    with pytest.raises(errors.BadPolicy):
        env.step(8)
    assert str(env.board) == "O__/_X_/___"


def test_a_function_may_learn_while_it_plays() -> None:
    favourite = [0]
    env = TicTacToeEnv(lambda _: {favourite[0]: Fraction(1)})
    answers = []
    for favourite[0] in (0, 8):
        env.reset()
        env.step(4)
        answers.append(str(env.board))
    assert answers == ["O__/_X_/___", "___/_X_/__O"]


def test_human_mode_prints_each_board_once(capsys: pytest.CaptureFixture[str]) -> None:
    env = TicTacToeEnv(first_free, render_mode="human")
    env.reset()
    env.step(4)

    assert (
        capsys.readouterr().out == " | |\n-+-+-\n | |\n-+-+-\n | |\n\nO| |\n-+-+-\n |X|\n-+-+-\n | |\n\n"
    )


def test_arrays_belong_to_their_receiver() -> None:
    env: Any = TicTacToeEnv(first_free)
    seen, _ = env.reset()
    for array in (*seen.values(), env.action_masks()):
        array[:] = 7

    seen, *_ = env.step(4)
    assert seen["observation"].sum() == 9
    assert seen["action_mask"].tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 1]
    assert env.action_masks().tolist() == seen["action_mask"].astype(bool).tolist()


@places
def test_action_masks_are_found_through_wrappers(mask_in: str) -> None:
    env = gymnasium.make(GYM_ID, opponent=first_free, mask_in=mask_in)
    env.reset()
    env.step(4)

    masks = env.get_wrapper_attr("action_masks")()

    assert masks.dtype == np.bool_
    assert np.flatnonzero(masks).tolist() == [1, 2, 3, 5, 6, 7, 8]


def test_the_examples_on_the_page_work() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert (failed, tried > 8) == (0, True)
