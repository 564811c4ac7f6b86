"""Players that move at random, by a policy or with equal chances."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from math import sqrt
from random import Random

import pytest

from noughts import (
    Board,
    IllegalMove,
    Mark,
    Menace,
    O,
    Training,
    X,
    certify,
    errors,
    next_move,
    odds,
    parse_board,
    play_game,
    reachable,
)
from noughts.bots.bot import Bot, Contestant
from noughts.bots.ladder import LADDER, random
from noughts.bots.registry import BUILT_IN, find_policy
from noughts.core.errors import quoted
from support.reference.tactics import in_play

DRAWS = 20_000
BOARDS = ["___/___/___", "X__/___/___", "XO_/___/___", "XX_/OO_/___", "X__/_O_/__X", "XOX/XOO/_X_"]


@pytest.mark.parametrize("name", ["random", *LADDER, "newell-simon", "perfect"])
def test_a_bot_takes_only_cells_that_have_a_chance(name: str) -> None:
    policy = find_policy(name)
    bot = Bot(policy, Random(f"{name} draws"))
    for board in in_play(X, O):
        likely = {cell for cell, chance in policy(board).items() if chance > 0}
        assert {bot.choose(board) for _ in range(5)} <= likely


@pytest.mark.parametrize("written", BOARDS)
@pytest.mark.parametrize("name", ["random", *LADDER])
def test_cells_are_taken_as_often_as_their_chances_say(name: str, written: str) -> None:
    """Within five standard errors."""
    policy, board = find_policy(name), parse_board(written)
    bot = Bot(policy, Random(f"{name} on {written}"))

    taken = Counter(bot.choose(board) for _ in range(DRAWS))

    for cell, chance in policy(board).items():
        spread = sqrt(DRAWS * chance * (1 - chance))
        assert abs(taken[cell] - DRAWS * chance) <= 5 * spread, (cell, chance)
    assert set(taken) <= set(policy(board))


def test_unequal_chances_are_kept_apart() -> None:
    chances = {8: Fraction(1, 100), 0: Fraction(29, 100), 4: Fraction(70, 100)}
    bot = Bot(lambda _: chances, Random("unequal"))

    taken = Counter(bot.choose(Board()) for _ in range(5 * DRAWS))

    surprise = sum(
        (taken[cell] - 5 * DRAWS * chance) ** 2 / (5 * DRAWS * chance) for cell, chance in chances.items()
    )
    assert surprise < 13.8  # chi-square of two degrees of freedom: one run in a thousand is above
    assert taken.total() == sum(taken[cell] for cell in chances)


def test_a_policy_that_gives_no_cell_a_chance_resigns() -> None:
    for nothing in ({}, {4: Fraction(0)}):
        bot = Bot({Board(): nothing}.__getitem__)
        assert bot.choose_or_resign(Board()) is None
        with pytest.raises(errors.BotResigned, match=r"^the bot resigns in '___/___/___'$"):
            bot.choose(Board())


def test_a_cell_that_is_certain_is_taken() -> None:
    """Also cell 0, which is not a resignation."""
    for cell in range(9):
        certain = {cell: Fraction(1)}
        assert Bot({Board(): certain}.__getitem__, Random(1)).choose(Board()) == cell


def test_the_same_seed_chooses_alike() -> None:
    boards = in_play(X)
    once, again, other = (Bot(random, Random(seed)) for seed in ("a", "a", "b"))

    chosen = [once.choose(board) for board in boards]

    assert chosen == [again.choose(board) for board in boards]
    assert chosen != [other.choose(board) for board in boards]


def test_each_board_is_thought_about_once() -> None:
    asked: Counter[Board] = Counter()

    def slow(board: Board) -> Mapping[int, Fraction]:
        asked[board] += 1
        return random(board)

    bot = Bot(slow, Random(1))
    boards = [Board(), Board().place(0), Board(first=O)]
    for board in boards * 5:
        bot.choose(board)

    assert asked == dict.fromkeys(boards, 1)


def test_a_bad_policy_is_refused_when_it_is_asked() -> None:
    bot = Bot(lambda _: {4: Fraction(1, 2)}, Random(1))

    for _ in range(2):
        with pytest.raises(errors.BadPolicy):
            bot.choose(Board())


@pytest.mark.thorough
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_bot_answers_when_the_game_is_over(name: str) -> None:
    bot = Bot(find_policy(name), Random(1))
    for board in reachable():
        if board.is_over:
            with pytest.raises(errors.GameOver, match=f"^the game is over in '{board}'$"):
                bot.choose(board)


def test_a_random_move_adds_one_mark_on_a_free_cell() -> None:
    rng = Random(1)
    for board in reachable():
        if not board.is_over:
            before = str(board)
            after = next_move(board, board.turn, rng)
            assert after.count == board.count + 1
            assert str(board) == before


def test_cells_are_chosen_evenly() -> None:
    """Neither the block nor the win is preferred: X could win on 3, and O threatens 6."""
    board = parse_board("XX_/OO_/___")
    rng = Random(2)

    chosen = Counter(str(next_move(board, X, rng)) for _ in range(5_000))

    assert len(chosen) == 5
    assert all(900 <= times <= 1_100 for times in chosen.values())


def test_the_same_seed_moves_alike() -> None:
    assert next_move(Board(), X, Random("a")) is next_move(Board(), X, Random("a"))


def test_a_board_and_a_mark_are_enough() -> None:
    assert len({next_move(Board(), X) for _ in range(200)}) == 9


def test_a_written_board_is_as_good_as_a_board() -> None:
    flat = ["X", "", "", "", "O", "", "", "", ""]
    forms = (flat, [flat[:3], flat[3:6], flat[6:]], "X__/_O_/___", parse_board("X__/_O_/___"))

    assert len({next_move(form, X, Random(7)) for form in forms}) == 1
    assert flat == ["X", "", "", "", "O", "", "", "", ""]


@pytest.mark.parametrize("mark", Mark)
def test_a_finished_board_is_refused(mark: Mark) -> None:
    for written in ("XXX/OO_/___", "XOX/OOX/XXO"):
        with pytest.raises(errors.GameOver):
            next_move(parse_board(written), mark, Random(1))


def test_only_the_mark_to_move_may_move() -> None:
    with pytest.raises(errors.NotYourTurn):
        next_move(Board(), O, Random(1))


def test_a_bot_needs_only_a_name() -> None:
    assert {Bot("random").choose(Board()) for _ in range(200)} == {*range(9)}
    assert Bot("bot:perfect").choose(Board().place(0)) == 4


NO_POLICY = "a policy is a name or a function from boards to chances, not 5"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("perfekt", "unknown policy 'perfekt' (did you mean perfect?): choose one of random, "),
        ("program:./mybot", "'program:./mybot' is a program, and only a bot can be named here"),
        (5, NO_POLICY),
        (Bot("random"), NO_POLICY.replace("5", "Bot('random')")),
    ],
    ids=["unknown", "a program", "a number", "a bot"],
)
def test_what_is_not_a_policy_is_refused(given: str, message: str) -> None:
    for take in (Bot, partial(odds, "random"), partial(certify, mark=X), partial(Training, Menace())):
        with pytest.raises(errors.UnknownPolicy, match=f"^{re.escape(message)}"):
            take(given)


def test_what_is_not_a_player_is_refused() -> None:
    with pytest.raises(errors.UnknownPolicy, match=r"^a player is a bot, its name or a function, not 5$"):
        play_game("random", 5)  # type: ignore[arg-type]  # that is the point


def first_free(board: Board) -> int:
    return board.free_cells[0]


@pytest.mark.parametrize("first", Mark)
@pytest.mark.parametrize(
    "player", ["random", Bot("club"), find_policy("novice"), first_free, Menace()], ids=quoted
)
def test_anybody_can_play_a_whole_game(player: Contestant, first: Mark) -> None:
    """And `perfect` does not lose it."""
    for mark in Mark:
        game = play_game("perfect", player, first) if mark is X else play_game(player, "perfect", first)
        assert game.is_over
        assert game.winner is not mark.other
        assert Board.from_moves(game.moves, first) is game.board


def test_the_same_seed_plays_the_same_game() -> None:
    games = [play_game("random", random, rng=Random(seed)).moves for seed in "aab"]

    assert games[0] == games[1] != games[2]


def test_a_game_may_be_resigned() -> None:
    nobody: list[Contestant] = [lambda _: None, lambda _: {}]
    for nothing in nobody:
        game = play_game("random", nothing)
        assert (game.winner, game.resigned, game.board.count) == (X, O, 1)


@pytest.mark.parametrize(
    ("cell", "message"),
    [(0, "cell 0 holds X in 'X__/___/___'"), (9, "9 is not a cell"), ("5", "'5' is not a cell")],
)
def test_an_illegal_move_ends_the_game_with_an_error(cell: int, message: str) -> None:
    with pytest.raises(IllegalMove, match=f"^{re.escape(message)}"):
        play_game(first_free, lambda _: cell)
