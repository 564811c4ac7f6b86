"""The PettingZoo environment: PettingZoo's own checkers, every position, and invalid input."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pettingzoo  # type: ignore[import-untyped]  # it has no types
import pytest
from gymnasium.error import Error, ResetNeeded, UnsupportedMode
from pettingzoo.test import (  # type: ignore[import-untyped]  # it has no types
    api_test,
    render_test,
    seed_test,
)
from pettingzoo.utils import (  # type: ignore[import-untyped]  # it has no types
    random_demo,
    wrappers,
)

from noughts import Board, O, X, errors
from noughts.lab.aec_env import AGENTS, TicTacToeAEC, env, raw_env
from noughts.lab.envs import AEC_ID, tic_tac_toe_v1
from noughts.lab.observations import FREE, OWN, THEIRS
from support.lab_games import moves_to, places

Maker = Callable[..., TicTacToeAEC]

# The checker of PettingZoo 1.27 allows observations that are dicts in its own games only.
# Newer ones allow them everywhere (pull request 1391).
WARNINGS_ABOUT_DICTS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
}

NO_INTEGERS = [4.0, float("nan"), True, None, "4", [4], np.array([4, 5]), np.float32(1)]
INVALID_ACTIONS = [-1, 9, 10**9, -(10**30), *NO_INTEGERS]

BITS = [[held >> cell & 1 for cell in range(9)] for held in range(0o1000)]

makers = pytest.mark.parametrize("make", [env, raw_env])


def played(moves: Iterable[int], make: Maker = env, **settings: Any) -> TicTacToeAEC:  # noqa: ANN401 - any setting
    """Return an environment after some moves."""
    return replayed(make(**settings), moves)


def replayed(game: TicTacToeAEC, moves: Iterable[int]) -> TicTacToeAEC:
    """Play some moves of a new game."""
    game.reset()
    for move in moves:
        game.step(move)
    return game


def state(game: TicTacToeAEC) -> object:
    """Return everything visible of a game."""
    seen: list[Any] = [game.observe(agent) for agent in AGENTS]
    arrays = [array for view in seen for array in (view.values() if isinstance(view, dict) else [view])]
    return (
        [array.tobytes() for array in arrays],
        [*game.agents],
        game.agent_selection,
        [{**each} for each in (game.rewards, game.terminations, game.truncations)],
        {
            agent: {key: np.array(value).tolist() for key, value in game.infos[agent].items()}
            for agent in game.infos
        },
    )


@makers
def test_api_test_passes_without_output(make: Maker, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(20):
        api_test(make(mask_in="info"), num_cycles=20)

        assert capsys.readouterr() == ("Starting API test\nPassed API test\n", "")


@makers
def test_with_dicts_api_test_only_warns_about_dicts(
    make: Maker, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(20):
            api_test(make(), num_cycles=20)

    assert {str(warning.message).partition(" or ")[0] for warning in given} <= WARNINGS_ABOUT_DICTS
    assert set(capsys.readouterr().out.splitlines()) == {"Starting API test", "Passed API test"}


@makers
@places
def test_seed_test_passes(make: Maker, mask_in: str) -> None:
    seed_test(lambda: make(mask_in=mask_in))


def test_render_test_passes() -> None:
    render_test(env)
    render_test(raw_env)


@makers
def test_random_demo_plays_legal_games(make: Maker) -> None:
    assert random_demo(make(), render=False, episodes=20) == 0


def test_it_has_a_versioned_name_and_the_mask_is_in_the_observation_by_default() -> None:
    assert str(env()) == "tic_tac_toe_v1"
    assert tic_tac_toe_v1.env is env
    registered = pettingzoo.make("aec", AEC_ID)
    assert isinstance(registered, TicTacToeAEC)
    game: Any
    for game in (env(), raw_env(), registered):
        game.reset()
        assert game.last()[0].keys() == {"observation", "action_mask"}
        assert game.observation_space("player_1")["action_mask"].shape == (9,)
        assert game.infos == {"player_1": {}, "player_2": {}}


@places
def test_every_position_is_observed_correctly(mask_in: str) -> None:
    game = env(mask_in=mask_in)
    for board, moves in moves_to().items():
        replayed(game, moves)
        for agent, own, theirs in ((AGENTS[0], board.x, board.o), (AGENTS[1], board.o, board.x)):
            seen: Any = game.observe(agent)
            to_move = agent == game.agent_selection
            if mask_in == "info":
                assert [*game.infos[agent]] == ["action_mask"]
                planes, mask = seen, game.infos[agent]["action_mask"]
            else:
                assert game.infos[agent] == {}
                planes, mask = seen["observation"], seen["action_mask"]
            for plane, held in ((OWN, own), (THEIRS, theirs), (FREE, 0o777 & ~(own | theirs))):
                assert planes[..., plane].ravel().tolist() == BITS[held]
            legal = range(9) if board.is_over else board.free_cells
            assert mask.tolist() == [int(to_move and cell in legal) for cell in range(9)]
            assert planes.dtype == mask.dtype == np.int8
    assert game.observation_space(AGENTS[0]).contains(game.observe(AGENTS[0]))


@makers
def test_rewards_and_ends_match_the_core_in_every_position(make: Maker) -> None:
    game = make()
    for board, moves in moves_to().items():
        replayed(game, moves)

        won = (board.winner is X) - (board.winner is O)
        assert game.rewards == {"player_1": won, "player_2": -won}
        assert game.terminations == dict.fromkeys(AGENTS, board.is_over)
        assert game.truncations == dict.fromkeys(AGENTS, False)
        assert game.agent_selection == AGENTS[len(moves) % 2]
        if board.is_over:
            last = {}
            for agent in game.agent_iter():
                _, last[agent], *_ = game.last()
                game.step(None)
            assert last == {"player_1": won, "player_2": -won}
            assert game.agents == []
            assert game.rewards == {}
            assert game.infos == {}


@places
def test_pettingzoos_documented_loop_finds_its_mask(mask_in: str) -> None:
    rng, game = random.Random(1), env(mask_in=mask_in)
    for _ in range(50):
        game.reset()
        before = Board()
        for _agent in game.agent_iter():
            seen, _, terminated, truncated, info = game.last()
            masked: Any = info if mask_in == "info" else seen
            legal = [cell for cell, free in enumerate(masked["action_mask"].tolist()) if free]
            if terminated or truncated:
                assert legal == [*range(9)]
                game.step(None)
            else:
                assert legal == [*before.free_cells]
                action = rng.choice(legal)
                before = before.place(action)
                game.step(action)
        assert before.is_over


def test_env_behaves_like_pettingzoos_wrappers() -> None:
    rng = random.Random(1)
    ours, theirs = env(), wrappers.TerminateIllegalWrapper(raw_env(), illegal_reward=-1)
    theirs = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(theirs))
    for _ in range(100):
        ours.reset()
        theirs.reset()
        for agent, other in zip(ours.agent_iter(), theirs.agent_iter(), strict=True):
            assert agent == other
            assert ours.agents == theirs.agents
            for name in ("rewards", "terminations", "truncations", "_cumulative_rewards"):
                assert getattr(ours, name) == getattr(theirs, name), name
            assert ours.last()[1:4] == theirs.last()[1:4]
            action = None if ours.terminations[agent] else rng.randrange(9)
            ours.step(action)
            theirs.step(action)


@places
def test_a_taken_cell_loses(mask_in: str) -> None:
    for first in range(9):
        game = played([first, first], mask_in=mask_in, render_mode="ansi")

        assert game.rewards == {"player_1": 0, "player_2": -1}
        assert game.terminations == dict.fromkeys(AGENTS, True)
        assert game.infos["player_2"]["illegal"] is True
        assert [*game.infos["player_1"]] == (["action_mask"] if mask_in == "info" else [])
        assert str(game.render()).count("X") == 1
        assert "O" not in str(game.render())
        game.step(None)
        game.step(None)
        assert game.agents == []


def test_in_raw_env_a_taken_cell_is_an_error() -> None:
    game = raw_env()
    for board, moves in moves_to().items():
        if not board.is_over and moves:
            before = state(replayed(game, moves))

            with pytest.raises(errors.CellTaken):
                game.step(moves[0])
            assert state(game) == before


@makers
@pytest.mark.parametrize("action", INVALID_ACTIONS, ids=str)
def test_an_invalid_action_is_refused(make: Maker, action: Any) -> None:  # noqa: ANN401 - any value
    game = played([4, 0], make)
    before = state(game)

    with pytest.raises(errors.NoSuchCell, match="is not a cell: cells are 0 to 8"):
        game.step(action)
    assert state(game) == before
    game.step(np.int64(8))  # type: ignore[arg-type]  # any integer type


@makers
@pytest.mark.parametrize("action", [0, 5, -1, "no"])
def test_after_the_end_only_none_is_accepted(make: Maker, action: Any) -> None:  # noqa: ANN401 - any value
    game = played([0, 3, 1, 4, 2], make)
    before = state(game)

    with pytest.raises(ValueError, match="player_2 must step with None"):
        game.step(action)
    assert state(game) == before


@makers
def test_reset_is_needed_first(make: Maker) -> None:
    game = make(render_mode="ansi")
    attempts: list[Callable[[], object]] = [
        lambda: game.step(0),
        lambda: game.step(None),
        lambda: game.observe("player_1"),
        game.agent_iter,
        game.render,
    ]
    for attempt in attempts:
        with pytest.raises(ResetNeeded, match="reset"):
            attempt()
    names = "agents agent_selection rewards terminations truncations infos num_agents"
    for name in names.split():
        with pytest.raises(AttributeError, match="cannot be accessed before reset"):
            getattr(game, name)
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        game.last()


@makers
def test_reset_is_needed_when_both_have_left(make: Maker) -> None:
    game = played([0, 3, 1, 4, 2, None, None], make)  # type: ignore[list-item]  # None leaves

    for attempt in (lambda: game.step(None), lambda: game.step(0), game.last):
        with pytest.raises(ResetNeeded, match="both agents have left"):
            attempt()
    assert list(game.agent_iter()) == []
    game.reset()
    game.step(0)


def test_a_loop_without_steps_is_an_error() -> None:
    game = played([])

    with pytest.raises(Error, match="needs a step"):
        list(game.agent_iter())
    assert list(zip(game.agent_iter(0), "abc", strict=False)) == []


@places
def test_arrays_belong_to_their_receiver(mask_in: str) -> None:
    game, other = played([4], mask_in=mask_in), played([4], mask_in=mask_in)
    seen: Any
    for seen in (game.observe("player_1"), game.last()[0], game.last()[4]):
        for array in seen.values() if isinstance(seen, dict) else [seen]:
            array[:] = 7

    for agent in AGENTS:
        assert str(game.observe(agent)) == str(other.observe(agent))
    game.step(0)
    other.step(0)
    assert state(game) == state(other)


def test_an_info_does_not_change_later_and_waiting_agents_share_a_read_only_mask() -> None:
    game, kept = env(mask_in="info"), []
    game.reset()
    for cell in (0, 3, 1, 4, 2, None, None):
        kept.append(game.last()[4])
        game.step(cell)

    assert [info["action_mask"].sum() for info in kept] == [9, 8, 7, 6, 5, 9, 9]
    game = played([4], mask_in="info")
    with pytest.raises(ValueError, match="read-only"):
        game.infos["player_1"]["action_mask"][0] = 1
    game.infos["player_2"]["action_mask"][:] = 0
    assert played([4], mask_in="info").infos["player_2"]["action_mask"].sum() == 8


def test_invalid_settings_and_agents_are_refused() -> None:
    with pytest.raises(UnsupportedMode, match="'window'"):
        env(render_mode="window")
    with pytest.raises(errors.BadSetting, match="mask_in is observation or info, not 'rewards'"):
        env(mask_in="rewards")
    game = played([])
    for asked in (game.observe, game.observation_space, game.action_space):
        with pytest.raises(ValueError, match="unknown agent 'bob': the agents are player_1, player_2"):
            asked("bob")


@makers
def test_a_game_can_be_copied_and_pickled(make: Maker) -> None:
    for game in (played([4, 0], make), played([0, 3, 1, 4, 2], make)):
        before = state(game)
        for twin in (copy.deepcopy(game), pickle.loads(pickle.dumps(game))):  # noqa: S301 - our own
            assert state(twin) == before
            twin.step(None if game.terminations["player_1"] else 8)
            assert state(game) == before
