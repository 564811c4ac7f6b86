"""The exact odds of two policies, compared with naive sums and with played games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import sqrt
from random import Random

import pytest

from noughts import Board, Mark, O, X, errors, parse_board, reachable
from noughts.bots.bot import Bot
from noughts.bots.ladder import LADDER, perfect, random
from noughts.bots.menace.machine import Menace
from noughts.bots.menace.training import Training
from noughts.bots.odds import Odds, OddsCalculator, odds
from noughts.bots.policy import Policy, Weights
from noughts.bots.registry import BUILT_IN, find_policy
from noughts.core.notation import AnyBoard, as_board
from support.lab_games import first_free
from support.positions import positions
from support.reference.tactics import Plain, all_odds, by_chance, classic, hopeful, signs_of, somebody

PAIRS = [
    ("random", "random"),
    ("perfect", "random"),
    ("random", "perfect"),
    ("novice", "club"),
    ("expert", "casual"),
    ("newell-simon", "novice"),
]

PLAIN: dict[str, Plain] = {
    "random": by_chance,
    "perfect": hopeful,
    "newell-simon": classic,
    **{
        name: somebody(**{thing: str(getattr(rung, thing)) for thing in rung.__match_args__})
        for name, rung in LADDER.items()
    },
}

GAMES = 4_000


@cache
def calculator(pair: tuple[str, str]) -> OddsCalculator:
    """Return the odds of two policies by name; the tests share them."""
    return OddsCalculator(found_once(pair[0]), found_once(pair[1]))


found_once = cache(find_policy)


class FirstCell(Menace):
    """Learns like MENACE, but plays no images alike."""

    def weights(self, board: AnyBoard) -> Weights:
        return Weights(as_board(board).free_cells[:1], (1,), 1)


def trained() -> Menace:
    machine = Menace()
    Training(machine, "random", Random(1)).play(200)
    return machine


MACHINES = {"trained": trained, "changed": FirstCell}


def as_function(policy: Policy) -> Policy:
    return lambda board: {**policy(board)}


def resign(_board: Board) -> Mapping[int, Fraction]:
    return {}


@pytest.mark.thorough
@pytest.mark.parametrize("first", Mark)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_chances_add_up_to_one_on_every_position(pair: tuple[str, str], first: Mark) -> None:
    found = calculator(pair)
    for board in positions(first):
        ends = found.odds(board)
        assert ends.x + ends.draw + ends.o == 1
        assert min(ends.x, ends.draw, ends.o) >= 0
        assert (0 if board.is_over else 1) <= ends.length <= len(board.free_cells)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pair", "first"),
    [*((pair, X) for pair in PAIRS), (("random", "random"), O), (("novice", "club"), O)],
    ids=str,
)
def test_odds_are_those_of_a_naive_sum(pair: tuple[str, str], first: Mark) -> None:
    found = calculator(pair)
    expected = all_odds(PLAIN[pair[0]], PLAIN[pair[1]], str(first))

    assert len(expected) == 5_478
    for board in positions(first):
        assert found.odds(board) == Odds(*expected[signs_of(board)]), board


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*BUILT_IN, "trained", "changed"])
def test_one_board_stands_for_all_its_images(name: str) -> None:
    """As plain functions, the same policies are asked about every board."""
    policy, other = MACHINES[name]() if name in MACHINES else find_policy(name), find_policy("novice")

    for x, o in ((policy, other), (other, policy)):
        found, asked = OddsCalculator(x, o), OddsCalculator(as_function(x), as_function(o))
        assert all(found.odds(board) == asked.odds(board) for board in positions())


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_o_starting_exchanges_the_odds(pair: tuple[str, str]) -> None:
    found, exchanged = calculator(pair), calculator(pair[::-1])
    for board in positions():
        ends, other = found.odds(board), exchanged.odds(Board(board.o, board.x, O))
        assert (ends.x, ends.draw, ends.o, ends.length) == (other.o, other.draw, other.x, other.length)


def test_two_random_players() -> None:
    """X wins 737 of 1,260, O 121 of 420, 8 of 63 are drawn; they last 3203/420 tokens on average."""
    assert odds(random, random) == Odds(
        Fraction(737, 1260), Fraction(8, 63), Fraction(121, 420), Fraction(3203, 420)
    )


def test_two_perfect_players_always_draw() -> None:
    drawn = Odds(Fraction(0), Fraction(1), Fraction(0), Fraction(9))
    classic_rules = find_policy("newell-simon")

    assert odds(perfect, perfect) == odds(classic_rules, perfect) == odds(perfect, classic_rules) == drawn


def test_the_perfect_player_wins_191_of_192_games_against_chance() -> None:
    ends = odds(perfect, random)

    assert (ends.x, ends.draw, ends.o) == (Fraction(191, 192), Fraction(1, 192), Fraction(0))


@pytest.mark.parametrize("name", PLAIN)
def test_nobody_beats_the_perfect_player(name: str) -> None:
    policy = find_policy(name)

    assert odds(perfect, policy).o == 0
    assert odds(policy, perfect).x == 0


def test_a_finished_board_has_the_odds_of_its_end() -> None:
    nobody = OddsCalculator(resign, resign)
    for board in (*reachable(X), *reachable(O)):
        if board.is_over:
            assert nobody.odds(board) == Odds(
                Fraction(board.winner is X),
                Fraction(board.is_draw),
                Fraction(board.winner is O),
                Fraction(0),
            )


def test_a_player_who_resigns_has_lost() -> None:
    x_won, o_won = ((Fraction(int(mark is X)), Fraction(0), Fraction(int(mark is O))) for mark in Mark)

    assert odds(resign, random) == Odds(*o_won, Fraction(0))
    assert odds(random, resign) == Odds(*x_won, Fraction(1))
    assert odds(random, resign, Board(first=O)) == Odds(*x_won, Fraction(0))
    assert odds(resign, random, Board(first=O)) == Odds(*o_won, Fraction(1))
    assert odds(resign, resign) == Odds(*o_won, Fraction(0))


def test_resigning_sometimes_counts_for_those_games_alone() -> None:
    """O resigns unless X opens in the centre: in eight games of nine."""

    def proud(board: Board) -> Mapping[int, Fraction]:
        return first_free(board) if board.x >> 4 & 1 else {}

    ends, accepted = odds(random, proud), odds(random, proud, Board().place(4))

    assert ends.x > Fraction(8, 9)
    assert ends.o == accepted.o / 9 > 0
    assert ends.length == 1 + accepted.length / 9


def test_odds_can_be_asked_for_from_any_board() -> None:
    """X, at random, wins in one case of three; otherwise O blocks, and the board fills up."""
    board = parse_board("XX_/OO_/X_O")

    assert odds(random, first_free, board) == Odds(
        Fraction(1, 3), Fraction(2, 3), Fraction(0), Fraction(7, 3)
    )
    assert odds(perfect, random, board) == Odds(Fraction(1), Fraction(0), Fraction(0), Fraction(1))
    exchanged = Board(board.o, board.x, O)
    assert odds(random, perfect, exchanged) == Odds(Fraction(0), Fraction(0), Fraction(1), Fraction(1))


def test_a_game_without_chance_has_one_end() -> None:
    assert odds(first_free, first_free) == Odds(Fraction(1), Fraction(0), Fraction(0), Fraction(7))


def test_a_score_counts_a_draw_as_half() -> None:
    ends = Odds(Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(7))

    assert (ends.win(X), ends.win(O)) == (Fraction(1, 2), Fraction(1, 6))
    assert (ends.score(X), ends.score(O)) == (Fraction(2, 3), Fraction(1, 3))


def test_each_position_is_calculated_once() -> None:
    asked: Counter[Board] = Counter()

    def slow(board: Board) -> Mapping[int, Fraction]:
        asked[board] += 1
        return random(board)

    found = OddsCalculator(slow, slow)
    for board in reachable():
        found.odds(board)

    assert set(asked.values()) == {1}
    assert len(asked) == 4_520


@pytest.mark.parametrize("seat", Mark)
def test_a_bad_policy_is_refused(seat: Mark) -> None:
    bad = {4: Fraction(1, 2)}

    def half(_board: Board) -> Mapping[int, Fraction]:
        return bad

    with pytest.raises(errors.BadPolicy):
        odds(*((half, random) if seat is X else (random, half)))


def played(x: Bot, o: Bot, board: Board) -> tuple[Mark | None, int]:
    """Play one game; return the winner and the number of tokens."""
    begun = board.count
    while not board.is_over:
        cell = (x if board.turn is X else o).choose_or_resign(board)
        if cell is None:
            return board.turn.other, board.count - begun
        board = board.place(cell)
    return board.winner, board.count - begun


@pytest.mark.parametrize("first", Mark)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_games_played_end_as_often_as_the_odds_say(pair: tuple[str, str], first: Mark) -> None:
    """Four thousand games: the results and the mean length are within four and a half standard errors."""
    rng = Random(f"{pair} {first}")
    x, o = (Bot(found_once(name), rng) for name in pair)
    start = Board(first=first)
    ends = calculator(pair).odds(start)

    games = [played(x, o, start) for _ in range(GAMES)]

    winners = Counter(winner for winner, _ in games)
    for winner, chance in ((X, ends.x), (None, ends.draw), (O, ends.o)):
        spread = sqrt(GAMES * chance * (1 - chance))
        assert abs(winners[winner] - GAMES * chance) <= 4.5 * spread, winner
    mean = sum(length for _, length in games) / GAMES
    variance = sum((length - mean) ** 2 for _, length in games) / (GAMES - 1)
    assert abs(mean - ends.length) <= 4.5 * sqrt(variance / GAMES)
