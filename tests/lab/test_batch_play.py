"""Whole games in batches: legal, fully recorded, and with the right chances."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from noughts import Board, Cell, O, Policy, X, find_policy, odds, reachable
from noughts.bots.errors import BadPolicy
from noughts.bots.policy import CachedPolicy, Weights, weigh
from noughts.lab import lookup
from noughts.lab.alias_tables import AliasTables, alias, slot_bits
from noughts.lab.arrays import Rules
from noughts.lab.backends import DRAW_BITS, Backend, RandomNumbers
from noughts.lab.batch_play import RandomMatch, Records
from noughts.lab.errors import BadArray
from noughts.lab.lookup import DRAWN, O_WON, X_WON
from support.array_libraries import to_numpy

PAIRS = [("random", "random"), ("club", "novice"), ("perfect", "random"), ("random", "newell-simon")]


@cache
def found(name: str) -> Policy:
    """Return a cached policy; `random` is recognised as it is."""
    return find_policy(name) if name == "random" else CachedPolicy(find_policy(name))


def columns(records: Records) -> list[Any]:
    """Return records as NumPy arrays."""
    return [to_numpy(column) for column in records]


def replayed(moves: Any, x: Policy, o: Policy) -> Board:  # noqa: ANN401 - a row of an array
    """Replay a recorded game in the core, which refuses illegal moves; each had a chance."""
    board = Board()
    for cell in moves[moves >= 0]:
        assert cell in (x if board.turn is X else o)(board)
        board = board.place(int(cell))
    return board


def resigner(board: Board) -> Mapping[Cell, Fraction]:
    """Resign with four tokens on the board, and play at random before."""
    return {} if board.count > 3 else found("random")(board)


def dust(board: Board) -> Mapping[Cell, Fraction]:
    """Give all cells but one a tiny chance that has to be rounded."""
    first, *others = board.free_cells
    grain = Fraction(100_049, 100 << DRAW_BITS)
    return {first: 1 - grain * len(others), **dict.fromkeys(others, grain)}


@pytest.mark.parametrize(("x", "o"), [*PAIRS, ("newell-simon", "perfect")])
def test_every_recorded_game_replays_in_the_core(rules: Rules, x: str, o: str) -> None:
    moves, length, result = columns(rules.play(2_000, found(x), found(o), seed=1))

    ends = {X: X_WON, O: O_WON, None: DRAWN}
    for row, tokens, end in zip(moves, length, result, strict=True):
        board = replayed(row, found(x), found(o))
        assert board.is_over
        assert (board.count, ends[board.winner]) == (tokens, end)
        assert (row[tokens:] == -1).all()


@pytest.mark.parametrize(("x", "o"), [*PAIRS, ("perfect", "club"), ("novice", "casual")])
def test_counts_are_within_five_standard_errors_of_the_exact_odds(x: str, o: str) -> None:
    games = 200_000
    exact = odds(found(x), found(o))

    tally = Rules().tally(games, found(x), found(o), seed=3)

    assert tally.games == games
    for count, chance in ((tally.x, exact.x), (tally.draw, exact.draw), (tally.o, exact.o)):
        allowed = 5 * sqrt(games * chance * (1 - chance))
        assert abs(count - float(games * chance)) <= allowed
    assert abs(tally.moves / games - float(exact.length)) < 0.02


def test_every_backend_counts_within_five_standard_errors(rules: Rules) -> None:
    for x, o in (("random", "random"), ("club", "novice")):
        exact = odds(found(x), found(o))
        tally = rules.tally(20_000, found(x), found(o), seed=4)
        allowed = 5 * sqrt(20_000 * exact.x * (1 - exact.x))
        assert abs(tally.x - float(20_000 * exact.x)) <= allowed


def test_all_orders_of_the_cells_give_the_exact_odds() -> None:
    every = np.indices((504, 720)).reshape(2, -1)

    class InTurn:
        """Draws each of the orders once."""

        def below(self, bound: int, _count: int) -> Any:  # noqa: ANN401 - an array
            """Return the one half or the other."""
            return every[0] if bound == 504 else every[1]

    tally = RandomMatch(Backend()).count(362_880, InTurn())  # type: ignore[arg-type]  # it draws

    exact = odds(found("random"), found("random"))
    ends = [tally.x, tally.draw, tally.o]
    assert [Fraction(end, 362_880) for end in ends] == [exact.x, exact.draw, exact.o]
    assert tally.moves == 362_880 * exact.length


def test_a_seed_determines_the_games(rules: Rules) -> None:
    club = found("club")
    for x, o in ((found("random"), found("random")), (club, club)):
        first, again, other = (columns(rules.play(500, x, o, seed=seed))[0] for seed in (5, 5, 6))
        assert (first == again).all()
        assert (first != other).any()
        assert rules.tally(500, x, o, seed=5) == rules.tally(500, x, o, seed=5)


def test_counts_are_those_of_the_records() -> None:
    rules = Rules()
    for policy in (found("random"), found("novice")):
        records = rules.play(40_000, policy, policy, seed=7)
        tally = rules.tally(40_000, policy, policy, seed=7)

        ends = Counter(records.result.tolist())
        assert (tally.x, tally.draw, tally.o) == (ends[X_WON], ends[DRAWN], ends[O_WON])
        assert tally.moves == int(records.length.sum())


def test_large_numbers_of_games_are_concatenated_batches() -> None:
    rules = Rules()
    whole = rules.play(40_000, seed=8)
    parts = list(rules.plays(40_000, seed=8))

    assert [len(part.length) for part in parts] == [16_000, 16_000, 8_000]
    assert (np.concatenate([part.moves for part in parts]) == whole.moves).all()
    assert whole.moves.shape == (40_000, 9)


def test_resigning_loses_and_ends_the_record() -> None:
    exact = odds(resigner, found("perfect"))
    records = Rules().play(3_000, resigner, found("perfect"), seed=9)

    assert exact.o == 1
    assert {*records.result.tolist()} == {O_WON}
    assert {*records.length.tolist()} == {4}
    assert ((records.moves >= 0).sum(axis=1) == 4).all()


def test_an_invalid_policy_is_refused() -> None:
    with pytest.raises(BadPolicy, match="not a free cell"):
        Rules().play(10, lambda _board: {9: Fraction(1)}, found("random"))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=9).filter(any), st.integers(0, 1))
def test_slots_hold_exactly_the_weights(shares: list[int], wider: int) -> None:
    cells = [(cell, share) for cell, share in enumerate(shares) if share]
    weights = Weights(tuple(cell for cell, _ in cells), tuple(share for _, share in cells), sum(shares))
    slots = 1 << ((len(shares) - 1).bit_length() + wider)

    filled = alias(weights, slots)

    held: Counter[int] = Counter()
    for share, low, high in filled:
        assert 0 <= share <= weights.total
        held[low] += share
        held[high] += weights.total - share
    assert len(filled) == slots
    assert {cell: held[cell] for cell in held if held[cell]} == {
        cell: share * slots for cell, share in cells
    }


@pytest.mark.parametrize("name", ["random", "club", "dust"])
def test_tables_give_every_cell_its_chance_in_every_position(name: str) -> None:
    policy = dust if name == "dust" else found(name)
    tables = AliasTables.build(policy, policy)
    half = len(tables.threshold)
    for number, board in enumerate(reachable()):
        if board.is_over:
            continue
        bits = slot_bits(board.count)
        size = 1 << (DRAW_BITS - bits)
        chances: Counter[int] = Counter()
        for slot in range(1 << bits):
            row = tables.row[number] + slot
            below = tables.threshold[row] - slot * size
            chances[tables.cell[row + half]] += below
            chances[tables.cell[row]] += size - below
        weights = weigh(policy, board)
        exact = dict(zip(weights.cells, weights.shares, strict=True))
        for cell in {*chances, *exact}:
            wanted = Fraction(exact.get(cell, 0), weights.total)
            assert abs(Fraction(chances[cell], 1 << DRAW_BITS) - wanted) <= Fraction(1, 1 << 24)
            assert wanted or not chances[cell]


def test_a_row_of_choices_is_the_free_cells_in_order() -> None:
    choices = lookup.choice_table()
    for number, board in enumerate(reachable()):
        row = choices.row[number]
        for place, cell in enumerate(board.free_cells or (0,)):
            assert choices.position[row + place] == number
            if board.is_over:
                assert (choices.after[row + place], choices.cell[row + place]) == (row, -1)
            else:
                after = choices.row[lookup.numbers()[board.place(cell)]]
                assert (choices.after[row + place], choices.cell[row + place]) == (after, cell)


def test_a_compiled_match_plays_the_same_games() -> None:
    given: list[type] = []

    def compiler(function: Callable[..., object]) -> Callable[..., object]:
        def compiled(draws: object) -> object:
            given.append(type(draws))
            return function(draws)

        return compiled

    for policy in (found("random"), found("club")):
        plain, compiled = Rules().match(policy, policy), Rules().match(policy, policy)
        compiled.compile(compiler)

        assert (
            compiled.record(500, RandomNumbers(5)).moves == plain.record(500, RandomNumbers(5)).moves
        ).all()
        assert compiled.count(500, RandomNumbers(5)) == plain.count(500, RandomNumbers(5))
    assert given == [tuple] * 4


def test_memory_stays_flat_however_many_games() -> None:
    rules = Rules()
    rules.tally(16_000, seed=1)
    tracemalloc.start()
    try:
        assert next(rules.plays(10**8, seed=1)).moves.shape == (16_000, 9)
        assert rules.tally(320_000, seed=1).games == 320_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True])
def test_an_invalid_seed_is_refused(rules: Rules, seed: Any) -> None:  # noqa: ANN401 - any value
    with pytest.raises(BadArray, match="is not a seed"):
        rules.play(10, seed=seed)


@pytest.mark.parametrize("seed", [0, 2**63 - 1, np.int64(3)])
def test_every_valid_seed_is_accepted(rules: Rules, seed: int) -> None:
    assert rules.tally(10, seed=seed).games == 10
