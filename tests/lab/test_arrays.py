"""The rules for batches agree with the core in all positions and actions, on every backend."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from noughts import Board, Mark, O, X, reachable
from noughts.core.errors import NotInstalled
from noughts.lab import lookup
from noughts.lab.arrays import Rules
from noughts.lab.errors import BadArray
from noughts.lab.lookup import DRAWN, GOING, O_WON, X_WON
from support.array_libraries import INSTALLED, to_list
from support.strategies import cells

PAGE = Path(__file__).parents[2] / "docs" / "lab.md"
RULES = Rules()
STRANGE = (-(2**63), -10, -1, 9, 10, 10**9, 2**63 - 1)


def test_numpy_and_array_api_strict_are_installed() -> None:
    assert {"numpy", "array-api-strict"} <= {*INSTALLED}


def test_every_action_in_every_position_leads_where_the_core_says(rules: Rules) -> None:
    for action in range(9):
        games = rules.positions(reachable())
        after, illegal = rules.step(games, [action] * 5478)

        refused = [board.why_not(action, board.turn) is not None for board in reachable()]
        assert to_list(illegal) == refused
        expected = [
            board if is_refused else board.place(action)
            for board, is_refused in zip(reachable(), refused, strict=True)
        ]
        assert list(rules.boards(after)) == expected


@pytest.mark.parametrize("action", STRANGE)
def test_an_action_outside_the_board_is_illegal_everywhere(rules: Rules, action: int) -> None:
    games = rules.positions(reachable())

    after, illegal = rules.step(games, np.full(5478, action))

    assert to_list(illegal) == [True] * 5478
    assert to_list(after) == list(range(5478))


def test_status_reward_tokens_and_legal_cells_match_the_core(rules: Rules) -> None:
    boards = reachable()
    games = rules.positions(boards)
    ends = {X: X_WON, O: O_WON, None: DRAWN}

    assert to_list(rules.status(games)) == [ends[b.winner] if b.is_over else GOING for b in boards]
    assert to_list(rules.reward(games)) == [(b.winner is X) - (b.winner is O) for b in boards]
    assert to_list(rules.reward(games, O)) == [(b.winner is O) - (b.winner is X) for b in boards]
    assert to_list(rules.tokens(games)) == [b.count for b in boards]
    assert to_list(rules.legal(games)) == [
        [b.why_not(cell, b.turn) is None for cell in range(9)] for b in boards
    ]


def test_reset_replaces_finished_games_only(rules: Rules) -> None:
    boards = reachable()

    begun = rules.boards(rules.reset(rules.positions(boards)))

    assert list(begun) == [Board() if board.is_over else board for board in boards]
    assert sum(board.is_over for board in boards) == 958


def test_new_games_are_empty_boards_and_a_batch_may_be_empty(rules: Rules) -> None:
    assert rules.boards(rules.new(3)) == (Board(), Board(), Board())
    none = rules.new(0)
    after, illegal = rules.step(none, [])
    records = rules.play(0)

    assert [after.shape, illegal.shape, rules.status(none).shape] == [(0,)] * 3
    assert rules.legal(none).shape == (0, 9)
    assert (records.moves.shape, records.length.shape, records.result.shape) == ((0, 9), (0,), (0,))
    assert rules.tally(0).games == 0


@pytest.mark.parametrize(
    ("games", "actions", "why"),
    [
        ([0, 0], [1], "2 games need as many actions, not 1"),
        ([0], [1, 2], "1 games need as many actions, not 2"),
        ([[0], [0]], [1, 2], "1 dimension, not of 2"),
        (0, 1, "1 dimension, not of 0"),
        ([0], [[1]], "1 dimension, not of 2"),
        ([0], [1.0], "actions are integers"),
        ([0.0], [1], "games are integers"),
        ([True], [1], "games are integers"),
        ([0], [True], "actions are integers"),
        ([0, 0], [True, 4], "actions are integers, not bool"),
        ((0, False), (4, 4), "games are integers, not bool"),
        ([5478], [1], "0 to 5477"),
        ([-1], [1], "0 to 5477"),
        ([0, 10**9], [1, 1], "0 to 5477"),
        ("X", [1], "1 dimension|not an array"),
        ([0], ["X"], "integers|not an array"),
        ([0], None, "1 dimension|not an array"),
        ([0], [None], "integers|not an array"),
        ([[0], [1, 2]], [1], "is not an array"),
    ],
)
def test_invalid_batches_are_refused(rules: Rules, games: object, actions: object, why: str) -> None:
    with pytest.raises(BadArray, match=why):
        rules.step(games, actions)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_integers_of_any_type_are_accepted(rules: Rules, dtype: str) -> None:
    games = np.zeros(2, dtype)
    actions = np.array([8, np.iinfo(dtype).max], dtype)

    after, illegal = rules.step(games, actions)

    assert to_list(illegal) == [False, True]
    assert [str(board) for board in rules.boards(after)] == ["___/___/__X", "___/___/___"]


def test_large_numbers_do_not_wrap_to_32_bits(rules: Rules) -> None:
    far = np.array([2**32 + 4, 2**32, -(2**32), 2**63 - 1, 4])

    after, illegal = rules.step(np.zeros(5, np.int64), far)

    assert to_list(illegal) == [True, True, True, True, False]
    assert [board.count for board in rules.boards(after)] == [0, 0, 0, 0, 1]
    with pytest.raises(BadArray, match="0 to 5477"):
        rules.status(far)


def test_arrays_may_be_read_only_or_strided(rules: Rules) -> None:
    actions = np.arange(9)[::-1]
    actions.flags.writeable = False

    after, illegal = rules.step(np.zeros(9, np.int64), actions)

    assert not any(to_list(illegal))
    assert [board.cells.index(X) for board in rules.boards(after)] == list(range(8, -1, -1))


def test_a_step_does_not_change_its_arguments() -> None:
    rules = Rules()
    games, actions = rules.new(3), np.array([0, 9, 4])

    rules.step(games, actions)

    assert games.tolist() == [0, 0, 0]
    assert actions.tolist() == [0, 9, 4]


@pytest.mark.parametrize("games", [-1, 1.5, "3", None, True, 10**15 + 1, 10**400])
def test_an_invalid_number_of_games_is_refused(games: Any) -> None:  # noqa: ANN401 - any value
    rules = Rules()
    calls: list[Callable[[Any], object]] = [rules.new, rules.play, rules.tally, rules.plays]
    for call in calls:
        with pytest.raises(BadArray, match="is not a number of games"):
            call(games)


def test_more_games_than_fit_into_memory_are_refused(rules: Rules) -> None:
    calls: list[Callable[[int], object]] = [rules.new, rules.play]
    for call in calls:
        with pytest.raises(BadArray, match="do not fit into memory"):
            call(10**15)


def test_a_board_that_o_started_is_refused() -> None:
    for board in (Board(first=Mark.O).place(0), "O__/___/___"):
        with pytest.raises(BadArray, match="X starts"):
            Rules().positions([board])


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        ("tensorflow", "unknown backend 'tensorflow': choose one of numpy, torch, jax, cupy, array"),
        ("", "unknown backend ''"),
        (None, "unknown backend 'None'"),
        ("numpy:cuda", "numpy runs on cpu, not on 'cuda'"),
        ("array-api-strict:gpu", "array-api-strict runs on cpu"),
    ],
)
def test_an_unknown_backend_is_refused(backend: str, why: str) -> None:
    with pytest.raises(NotInstalled, match=why):
        Rules(backend)


@pytest.mark.parametrize("name", ["torch", "jax", "cupy"])
def test_a_missing_backend_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, name, None)

    with pytest.raises(NotInstalled, match=f"needs {name}, which is not installed") as refusal:
        Rules(name)

    command = re.search(rf"pip install {name}[\w-]*", str(refusal.value))
    assert command
    row = next(row for row in PAGE.read_text().splitlines() if row.startswith(f"|`{name}`|"))
    assert f"`{command.group()}`" in row


def test_numpy_cannot_compile() -> None:
    with pytest.raises(NotInstalled, match="numpy cannot compile: torch and jax can"):
        Rules(compiled=True)


@given(st.lists(st.lists(cells | st.sampled_from(STRANGE), max_size=20), min_size=1, max_size=20))
def test_games_of_any_actions_match_the_core(actions: list[list[int]]) -> None:
    rules = RULES
    games, boards = rules.new(len(actions)), [Board()] * len(actions)
    for turn in range(max(map(len, actions))):
        chosen = [given[turn] if turn < len(given) else -1 for given in actions]
        games, illegal = rules.step(games, chosen)
        refused = [b.why_not(a, b.turn) is not None for b, a in zip(boards, chosen, strict=True)]
        boards = [
            board if no else board.place(action)
            for board, action, no in zip(boards, chosen, refused, strict=True)
        ]

        assert illegal.tolist() == refused
        assert list(rules.boards(games)) == boards


def test_position_numbers_are_those_of_the_core() -> None:
    assert lookup.positions() == reachable()
    assert len(lookup.positions()) == lookup.POSITIONS
    assert Counter(lookup.numbers().values()) == Counter(range(5478))
