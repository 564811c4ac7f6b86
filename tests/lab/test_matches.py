"""Whole games in batches: legal to the last move, recorded in full, and as likely as they should be."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from array_libraries import INSTALLED, numpied
from noughts import Board, O, X, find_policy, odds, reachable
from noughts.core.errors import BadPolicy
from noughts.lab import tables
from noughts.lab.arrays import Rules
from noughts.lab.backends import BITS, Backend
from noughts.lab.matches import RandomMatch
from noughts.lab.mixing import fill, mix, slot_bits
from noughts.lab.tables import DRAWN, O_WON, X_WON
from noughts.players.weights import Weights, weigh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from noughts import Cell
    from noughts.lab.matches import Records

PAIRS = [("random", "random"), ("club", "novice"), ("perfect", "random"), ("random", "newell-simon")]


@pytest.fixture(scope="module", params=INSTALLED)
def rules(request: pytest.FixtureRequest) -> Rules:
    """Return the rules on one of the backends that are installed."""
    return Rules(request.param)


def columns(records: Records) -> list[Any]:
    """Return records as NumPy's arrays, whatever library they are of."""
    return [numpied(column) for column in records]


def replayed(moves: Any) -> Board:  # noqa: ANN401 - a row of an array
    """Play a recorded game again in the core, which refuses what is illegal."""
    board = Board()
    for cell in moves[moves >= 0]:
        board = board.place(int(cell))
    return board


def resigner(board: Board) -> Mapping[Cell, Fraction]:
    """Give up with four tokens on the board, and play at random before that."""
    return {} if board.count > 3 else find_policy("random")(board)


@pytest.mark.parametrize(("x", "o"), PAIRS)
def test_every_recorded_game_is_one_that_the_core_plays(rules: Rules, x: str, o: str) -> None:
    """Move by move to its end, with its length and its result; and after its end there is no move."""
    moves, length, result = columns(rules.play(2_000, find_policy(x), find_policy(o), seed=1))

    ends = {X: X_WON, O: O_WON, None: DRAWN}
    for row, tokens, end in zip(moves, length, result, strict=True):
        board = replayed(row)
        assert board.is_over
        assert (board.count, ends[board.winner]) == (tokens, end)
        assert (row[tokens:] == -1).all()


@pytest.mark.parametrize("name", ["perfect", "newell-simon"])
def test_a_policy_makes_only_moves_that_it_gives_a_chance(name: str) -> None:
    """In every position of all games, on both sides."""
    policy = find_policy(name)
    moves, _, _ = columns(Rules().play(2_000, policy, policy, seed=2))
    for row in moves:
        board = Board()
        for cell in row[row >= 0]:
            assert cell in policy(board)
            board = board.place(int(cell))


@pytest.mark.parametrize(("x", "o"), [*PAIRS, ("perfect", "club"), ("novice", "casual")])
def test_counts_come_as_near_to_the_exact_odds_as_so_many_games_can(x: str, o: str) -> None:
    """Within five standard errors; what cannot happen never does."""
    games = 200_000
    exact = odds(find_policy(x), find_policy(o))

    tally = Rules().tally(games, find_policy(x), find_policy(o), seed=3)

    assert tally.games == games
    for count, chance in ((tally.x, exact.x), (tally.draw, exact.draw), (tally.o, exact.o)):
        allowed = 5 * sqrt(games * chance * (1 - chance))
        assert abs(count - float(games * chance)) <= allowed
    assert abs(tally.moves / games - float(exact.length)) < 0.02


def test_the_backends_count_as_near_as_that(rules: Rules) -> None:
    """Each with random numbers of its own."""
    for x, o in (("random", "random"), ("club", "novice")):
        exact = odds(find_policy(x), find_policy(o))
        tally = rules.tally(20_000, find_policy(x), find_policy(o), seed=4)
        allowed = 5 * sqrt(20_000 * exact.x * (1 - exact.x))
        assert abs(tally.x - float(20_000 * exact.x)) <= allowed


def test_every_order_of_the_cells_is_played_as_often_as_every_other() -> None:
    """All 504 ways to begin and 720 ways to go on, each once: 362,880 games, and their exact odds."""
    every = np.indices((504, 720)).reshape(2, -1)

    class InTurn:
        """Draws each of the orders once."""

        def below(self, bound: int, _count: int) -> Any:  # noqa: ANN401 - an array
            """Return the one half or the other."""
            return every[0] if bound == 504 else every[1]

    tally = RandomMatch(Backend()).count(362_880, InTurn())  # type: ignore[arg-type]  # it draws

    exact = odds(find_policy("random"), find_policy("random"))
    ends = [tally.x, tally.draw, tally.o]
    assert [Fraction(end, 362_880) for end in ends] == [exact.x, exact.draw, exact.o]
    assert tally.moves == 362_880 * exact.length


def test_the_same_seed_plays_the_same_games_and_another_one_others(rules: Rules) -> None:
    """In records and in counts."""
    club = find_policy("club")
    for x, o in ((find_policy("random"), find_policy("random")), (club, club)):
        first, again, other = (columns(rules.play(500, x, o, seed=seed))[0] for seed in (5, 5, 6))
        assert (first == again).all()
        assert (first != other).any()
        assert rules.tally(500, x, o, seed=5) == rules.tally(500, x, o, seed=5)


def test_counts_are_those_of_the_records() -> None:
    """Of the same games, with the same seed."""
    rules = Rules()
    for policy in (find_policy("random"), find_policy("novice")):
        records = rules.play(40_000, policy, policy, seed=7)
        tally = rules.tally(40_000, policy, policy, seed=7)

        ends = Counter(records.result.tolist())
        assert (tally.x, tally.draw, tally.o) == (ends[X_WON], ends[DRAWN], ends[O_WON])
        assert tally.moves == int(records.length.sum())


def test_batches_that_are_larger_than_a_chunk_are_joined_as_they_were_played() -> None:
    """The parts one by one hold the same games."""
    rules = Rules()
    whole = rules.play(40_000, seed=8)
    parts = list(rules.plays(40_000, seed=8))

    assert [len(part.length) for part in parts] == [16_000, 16_000, 8_000]
    assert (np.concatenate([part.moves for part in parts]) == whole.moves).all()
    assert whole.moves.shape == (40_000, 9)


def test_whoever_resigns_has_lost_and_the_record_ends_there() -> None:
    """The length is that of the tokens that were placed."""
    exact = odds(resigner, find_policy("perfect"))
    records = Rules().play(3_000, resigner, find_policy("perfect"), seed=9)

    assert exact.o == 1
    assert {*records.result.tolist()} == {O_WON}
    assert {*records.length.tolist()} == {4}
    assert ((records.moves >= 0).sum(axis=1) == 4).all()


def test_a_policy_that_gives_no_chances_is_refused_before_a_game_is_played() -> None:
    """With the sentence that says what is wrong with it."""
    with pytest.raises(BadPolicy, match="no free cell"):
        Rules().play(10, lambda _board: {9: Fraction(1)}, find_policy("random"))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=9).filter(any), st.integers(0, 1))
def test_slots_hold_exactly_the_chances_that_fill_them(shares: list[int], wider: int) -> None:
    """Whatever the chances: adding up the slots gives each cell its share again."""
    cells = [(cell, share) for cell, share in enumerate(shares) if share]
    weights = Weights(tuple(cell for cell, _ in cells), tuple(share for _, share in cells), sum(shares))
    slots = 1 << ((len(shares) - 1).bit_length() + wider)

    filled = fill(weights, slots)

    held: Counter[int] = Counter()
    for share, low, high in filled:
        assert 0 <= share <= weights.total
        held[low] += share
        held[high] += weights.total - share
    assert len(filled) == slots
    assert {cell: held[cell] for cell in held if held[cell]} == {
        cell: share * slots for cell, share in cells
    }


@pytest.mark.parametrize("name", ["random", "novice", "club", "perfect"])
def test_tables_give_every_cell_its_chance_in_every_position(name: str) -> None:
    """To within what the bits of a random number can say: 2⁻²⁶."""
    policy = find_policy(name)
    mixed = mix(policy, policy)
    half = len(mixed.threshold)
    for number, board in enumerate(reachable()):
        if board.is_over:
            continue
        bits = slot_bits(board.count)
        size = 1 << (BITS - bits)
        chances: Counter[int] = Counter()
        for slot in range(1 << bits):
            row = mixed.row[number] + slot
            below = mixed.threshold[row] - slot * size
            chances[mixed.cell[row + half]] += below
            chances[mixed.cell[row]] += size - below
        weights = weigh(policy, board)
        exact = dict(zip(weights.cells, weights.shares, strict=True))
        for cell in {*chances, *exact}:
            wanted = Fraction(exact.get(cell, 0), weights.total)
            assert abs(Fraction(chances[cell], 1 << BITS) - wanted) < Fraction(1, 1 << 26)
            assert bool(chances[cell]) == bool(wanted)


def test_a_row_of_choices_holds_the_free_cells_in_order() -> None:
    """Of every position that is not over; a finished one leads nowhere."""
    choices = tables.choices()
    for number, board in enumerate(reachable()):
        row = choices.row[number]
        for place, cell in enumerate(board.free_cells or (0,)):
            assert choices.position[row + place] == number
            if board.is_over:
                assert (choices.after[row + place], choices.cell[row + place]) == (row, -1)
            else:
                after = choices.row[tables.numbers()[board.place(cell)]]
                assert (choices.after[row + place], choices.cell[row + place]) == (after, cell)
