"""The Gymnasium environment: its project's own checker, every opponent, and everything bad."""

from __future__ import annotations

import copy
import doctest
import pickle
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded, UnsupportedMode
from gymnasium.utils.env_checker import check_env

from noughts import Board, Mark, O, X, errors, reachable
from noughts.bots.registry import find_policy
from noughts.lab.envs import GYM_ID, TicTacToeEnv, register
from noughts.lab.gym_env import _below
from noughts.lab.observations import OWN, THEIRS

if TYPE_CHECKING:
    from collections.abc import Mapping

places = pytest.mark.parametrize("mask_in", ["observation", "info"])

PAGE = Path(__file__).parents[2] / "docs" / "environments.md"


def resigning(at: int) -> Any:  # noqa: ANN401 - a policy
    """Return a policy that takes the first free cell, and resigns when that many tokens lie there."""

    def policy(board: Board) -> Mapping[int, Fraction]:
        return {board.free_cells[0]: Fraction(1)} if board.count < at else {}

    return policy


def played(env: TicTacToeEnv, seed: int, games: int = 3) -> list[object]:
    """Return all that is seen of some games, in which the agent takes the last free cell."""
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
def test_the_checker_passes_without_a_word(
    opponent: str, mark: str, mask_in: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Made by name, in every render mode; a warning would be an error."""
    check_env(gymnasium.make(GYM_ID, opponent=opponent, mark=mark, mask_in=mask_in).unwrapped)

    assert set(capsys.readouterr().out) <= set("XO|-+ \n")


def test_it_plays_within_what_gymnasium_wraps_around_it() -> None:
    """Its passive checker finds nothing in whole games, and frames are collected."""
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
    """Under its versioned name, with the vector environment beside it; again does nothing."""
    register()

    spec = gymnasium.spec(GYM_ID)
    assert spec.id == "noughts/TicTacToe-v1"
    assert spec.vector_entry_point == "noughts.lab.vector_env:TicTacToeVectorEnv"


@pytest.mark.parametrize("mark", ["X", "O", "either"])
def test_a_seed_makes_a_run_of_games(mark: str) -> None:
    """The same seed the same run, and another one another."""
    runs = [played(TicTacToeEnv("random", mark), seed) for seed in (5, 5, 6)]

    assert runs[0] == runs[1] != runs[2]


def test_either_mark_is_drawn() -> None:
    """Both come up, and the agent sees its own tokens as its own."""
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
def test_against_an_even_opponent_every_position_comes_with_its_number_and_mask(
    mark: str, mask_in: str
) -> None:
    """In games at random, until most have been seen: number, planes, mask and reward are the core's."""
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


def test_the_opponent_plays_its_exact_chances() -> None:
    """Six answers to a corner, of club: each as often as it should be, give or take five deviations."""
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


def test_a_number_of_any_length_is_drawn_evenly() -> None:
    """Also below more than NumPy draws; and of one there is nothing to draw."""
    rng = np.random.default_rng(1)
    total = 3 * 10**30

    drawn = [_below(rng, total) for _ in range(3000)]
    assert all(0 <= number < total for number in drawn)
    for third in range(3):
        assert 850 < sum(number * 3 // total == third for number in drawn) < 1150
    before = rng.bit_generator.state
    assert _below(rng, 1) == 0
    assert rng.bit_generator.state == before


def test_an_opponent_that_resigns_has_lost() -> None:
    """On the board as the agent left it."""
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


def test_an_opponent_that_resigns_at_once_has_lost_after_the_first_move() -> None:
    """A game cannot end before it."""
    env = TicTacToeEnv(resigning(at=0), mark="O")
    _, info = env.reset()
    assert info["resigned"] is True

    _, reward, terminated, _, info = env.step(4)

    assert (reward, terminated, info["resigned"]) == (1, True, True)
    assert env.reset()[1]["resigned"] is True


@pytest.mark.parametrize("action", [0, 4, 9, -1, 10**9, -(10**30)])
def test_an_illegal_move_loses(action: int) -> None:
    """A taken cell or none: the board stays as it was, and the game is over."""
    env: Any = TicTacToeEnv(resigning(at=9))
    env.reset()
    env.step(4)

    seen, reward, terminated, truncated, info = env.step(action)

    assert (reward, terminated, truncated, info["illegal"]) == (-1, True, False, True)
    assert str(env.board) == "O__/_X_/___"
    assert seen["observation"].sum() == seen["action_mask"].sum() == 9
    with pytest.raises(ResetNeeded):
        env.step(1)


@pytest.mark.parametrize(
    "action", [4.0, True, None, "4", [4], np.array([1, 2]), np.float64(1), float("inf")], ids=str
)
def test_what_is_no_whole_number_is_refused(action: Any) -> None:  # noqa: ANN401 - anything at all
    """With a sentence, and the game goes on."""
    env = TicTacToeEnv(resigning(at=9))
    env.reset()
    env.step(4)

    with pytest.raises(errors.NoSuchCell, match="is not a cell: cells are 0 to 8"):
        env.step(action)
    assert str(env.board) == "O__/_X_/___"
    _, reward, terminated, _, _ = env.step(np.int8(8))  # type: ignore[arg-type]  # whole numbers do
    assert (reward, terminated) == (0, False)


def test_a_step_needs_a_game() -> None:
    """Before the first one, and after each."""
    env: Any = TicTacToeEnv(resigning(at=9), mark="O")
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        env.step(0)
    env.reset()
    for cell in (2, 4, 6):
        env.step(cell)
    assert str(env.board) == "XXO/XO_/O__"
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        env.step(8)
    assert env.reset()[0]["observation"].sum() == 9


def test_a_picture_and_masks_need_a_game() -> None:
    """One that has begun, over or not."""
    env = TicTacToeEnv(resigning(at=9), render_mode="ansi")
    for attempt in (env.render, env.action_masks):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            attempt()
    env.reset()
    env.step(9)
    assert env.render() == " | |\n-+-+-\n | |\n-+-+-\n | |"
    assert env.action_masks().all()


def test_an_opponent_that_fails_at_the_reset_leaves_no_game() -> None:
    """The old one does not go on, with whatever mark."""
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


@pytest.mark.parametrize("opponent", ["club:block=1/3", "perfect", "menace"])
def test_a_game_can_be_copied_and_pickled_in_the_middle(opponent: str) -> None:
    """The copy goes on by itself, as the game itself does."""
    env = TicTacToeEnv(opponent, "either")
    env.reset(seed=7)
    env.step(env.board.free_cells[-1])
    before = env.board
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]  # noqa: S301 - our own

    gone_on = [[going_on(twin) for _ in range(3)] for twin in twins]

    assert env.board == before
    assert gone_on == [[going_on(env) for _ in range(3)]] * 2


def going_on(env: TicTacToeEnv) -> list[object]:
    """Return all that is seen until the end of a game, and of the beginning of another."""
    seen: list[object] = []
    over = False
    while not over:
        observation, reward, over, _, info = env.step(env.board.free_cells[-1])
        seen.append((str(observation), reward, over, str(info)))
    return [*seen, str(env.reset())]


def test_an_opponent_that_fails_leaves_the_game_as_it_was() -> None:
    """What it gives is checked, and its failure told."""
    env = TicTacToeEnv(lambda board: {0: Fraction(1)} if board.count < 2 else {4: Fraction(1, 2)})
    env.reset()
    env.step(4)

    with pytest.raises(errors.BadPolicy):
        env.step(8)
    assert str(env.board) == "O__/_X_/___"


def test_a_function_may_learn_while_it_plays() -> None:
    """It is asked each time."""
    favourite = [0]
    env = TicTacToeEnv(lambda _: {favourite[0]: Fraction(1)})
    answers = []
    for favourite[0] in (0, 8):
        env.reset()
        env.step(4)
        answers.append(str(env.board))
    assert answers == ["O__/_X_/___", "___/_X_/__O"]


def test_strange_settings_are_refused() -> None:
    """With what there is instead."""
    with pytest.raises(errors.UnknownPolicy, match="policy 'grandmaster'"):
        TicTacToeEnv("grandmaster")
    with pytest.raises(
        errors.UnknownPolicy, match=r"is noughts\.load_policy\(PATH\), not the name 'saved:file=q'"
    ):
        TicTacToeEnv("saved:file=q")
    with pytest.raises(errors.UnknownPolicy, match="not 5"):
        TicTacToeEnv(5)  # type: ignore[arg-type]  # which is why
    with pytest.raises(errors.BadSetting, match="a mark is X, O, either, not 'Y'"):
        TicTacToeEnv(mark="Y")
    with pytest.raises(UnsupportedMode, match="'window'"):
        TicTacToeEnv(render_mode="window")
    with pytest.raises(errors.BadSetting, match="mask_in is observation or info, not 'rewards'"):
        TicTacToeEnv(mask_in="rewards")


def test_a_screen_shows_each_board_once(capsys: pytest.CaptureFixture[str]) -> None:
    """After the reset and after each step, with nothing asked for."""
    env = TicTacToeEnv(resigning(at=9), render_mode="human")
    env.reset()
    env.step(4)

    assert (
        capsys.readouterr().out == " | |\n-+-+-\n | |\n-+-+-\n | |\n\nO| |\n-+-+-\n |X|\n-+-+-\n | |\n\n"
    )


def test_what_is_given_out_can_be_written_on() -> None:
    """It changes nothing."""
    env: Any = TicTacToeEnv(resigning(at=9))
    seen, _ = env.reset()
    for array in (*seen.values(), env.action_masks()):
        array[:] = 7

    seen, *_ = env.step(4)
    assert seen["observation"].sum() == 9
    assert seen["action_mask"].tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 1]
    assert env.action_masks().tolist() == seen["action_mask"].astype(bool).tolist()


@places
def test_learners_that_ask_for_action_masks_find_them_within_wrappers(mask_in: str) -> None:
    """As sb3-contrib's MaskablePPO asks: by name through every wrapper, a flag for each action."""
    env = gymnasium.make(GYM_ID, opponent=resigning(at=9), mask_in=mask_in)
    env.reset()
    env.step(4)

    masks = env.get_wrapper_attr("action_masks")()

    assert masks.dtype == np.bool_
    assert np.flatnonzero(masks).tolist() == [1, 2, 3, 5, 6, 7, 8]


def test_the_page_does_what_it_says() -> None:
    """Every example is run."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert (failed, tried > 8) == (0, True)
