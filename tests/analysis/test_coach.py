"""The coach: advice on each move of a position, and reviews of games."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from random import Random

import pytest

from noughts import Board, Mark, O, X, errors, parse_board, parse_moves, reachable
from noughts.analysis.coach import MISTAKES, Advice, Review, advise, judge_move, review
from noughts.analysis.reasons import Kind, reasons
from noughts.analysis.solver import Prospect, Result
from support.length import short_or_long
from support.positions import positions
from support.reference import tactics as plain
from support.reference.tactics import OTHER, seen

RESULTS = {1: Result.WIN, 0: Result.DRAW, -1: Result.LOSS}
EMPTY = "_" * 9


def as_prospect(end: tuple[int, int]) -> Prospect:
    """Return a result of the reference as a prospect."""
    result, distance = end
    return Prospect(RESULTS[result], distance)


@cache
def all_advice() -> tuple[tuple[Board, tuple[Advice, ...]], ...]:
    """Return the advice on each move of the unfinished positions, whichever mark started."""
    return tuple(
        (board, advise(board)) for first in Mark for board in positions(first) if not board.is_over
    )


def plain_review(moves: tuple[int, ...], first: str) -> tuple[tuple[int, ...], tuple[int, int]]:
    """Return the numbers of the mistakes, and the result of the last position."""
    signs, mark, mistakes = EMPTY, first, []
    for number, cell in enumerate(moves, start=1):
        before, after = plain.minimax(signs, mark)[0], plain.moves(signs, mark)[cell][0]
        if after < before:
            mistakes.append(number)
        signs, mark = plain.put(signs, mark, cell), OTHER[mark]
    return tuple(mistakes), plain.minimax(signs, mark)


def games(signs: str, mark: str, length: int) -> Iterator[tuple[int, ...]]:
    """Yield all games of at most this many moves, finished or not."""
    yield ()
    if length and not plain.is_over(signs):
        for cell in sorted(plain.free(signs)):
            for rest in games(plain.put(signs, mark, cell), OTHER[mark], length - 1):
                yield (cell, *rest)


def random_game(rng: Random) -> tuple[int, ...]:
    """Return a finished game of random moves."""
    signs, mark, moves = EMPTY, "X", []
    while not plain.is_over(signs):
        cell = rng.choice(sorted(plain.free(signs)))
        moves.append(cell)
        signs, mark = plain.put(signs, mark, cell), OTHER[mark]
    return tuple(moves)


@cache
def finished_games() -> tuple[tuple[tuple[int, ...], Review], ...]:
    """Return a thousand random finished games, each with its review."""
    rng = Random(11)
    found = (random_game(rng) for _ in range(1_000))
    return tuple((moves, review(moves)) for moves in found)


def test_every_move_gets_advice_in_order() -> None:
    for board, advice in all_advice():
        assert tuple(one.cell for one in advice) == board.free_cells
        assert all(one.mark is board.turn for one in advice)
        assert board.first is O or all(one.reasons == reasons(board, one.cell) for one in advice)


def test_a_move_leads_to_what_a_plain_search_says() -> None:
    for board, advice in all_advice():
        ends = plain.moves(*seen(board))
        for one in advice:
            assert one.prospect == as_prospect(ends[one.cell])


def test_a_move_is_best_exactly_when_no_other_is_better() -> None:
    """What an opponent may get wrong does not count."""
    for board, advice in all_advice():
        ends = plain.moves(*seen(board))
        highest = max(map(plain.preference, ends.values()))
        for one in advice:
            assert one.is_best == (plain.preference(ends[one.cell]) == highest), board


def test_all_openings_are_best_and_so_is_the_trap_in_the_opposite_corner() -> None:
    trap = Board().place(4).place(0)

    assert all(one.is_best for one in advise(Board()))
    assert [one.cell for one in advise(trap) if one.is_best] == [1, 2, 3, 5, 6, 7, 8]


def test_a_mistake_is_a_move_after_which_it_ends_worse() -> None:
    """A slower win is not a mistake."""
    for board, advice in all_advice():
        before = plain.minimax(*seen(board))[0]
        for one in advice:
            after = plain.moves(*seen(board))[one.cell][0]
            kind = one.mistake.kind if one.mistake else None
            wanted = {1: Kind.GIVES_UP_WIN, 0: Kind.GIVES_UP_DRAW}[before] if after < before else None
            assert kind is wanted
            assert not (one.mistake and one.is_best)
            assert one.mistake is None or one.mistake in one.reasons


def test_two_kinds_of_reasons_are_mistakes() -> None:
    assert set(MISTAKES) == {Kind.GIVES_UP_WIN, Kind.GIVES_UP_DRAW}


@pytest.mark.parametrize("first", Mark)
def test_a_finished_board_has_no_advice(first: Mark) -> None:
    finished = [board for board in reachable(first) if board.is_over]

    assert len(finished) == 958
    assert all(advise(board) == () for board in finished)


@pytest.mark.parametrize(
    ("written", "cell", "refusal"),
    [
        ("X__/_O_/___", 4, errors.CellTaken),
        ("X__/_O_/___", 9, errors.NoSuchCell),
        ("X__/_O_/___", -1, errors.NoSuchCell),
        ("XXX/OO_/___", 5, errors.GameOver),
        ("XOX/XOO/OXX", 0, errors.GameOver),
    ],
)
def test_a_move_that_is_not_legal_is_not_judged(
    written: str, cell: int, refusal: type[errors.IllegalMove]
) -> None:
    board = parse_board(written)
    with pytest.raises(refusal) as wanted:
        board.place(cell)

    with pytest.raises(refusal) as found:
        judge_move(board, cell)

    assert str(found.value) == str(wanted.value)


def check_review(moves: tuple[int, ...], first: Mark) -> None:
    """Compare the review of a game with a plain search."""
    found = review(moves, first)
    mistakes, standing = plain_review(moves, str(first))
    assert found.mistakes == mistakes, moves
    assert found.decisive == (max(mistakes) if mistakes else None), moves
    assert found.standing == as_prospect(standing), moves
    assert [one.cell for one in found.moves] == list(moves)
    turns = [first, first.other] * 5
    assert [one.mark for one in found.moves] == turns[: len(moves)]


@pytest.mark.parametrize("first", Mark)
def test_every_short_game_is_reviewed_as_a_plain_search_would(first: Mark) -> None:
    short = list(games(EMPTY, str(first), 4))
    won = [moves for moves in games(EMPTY, "X", 5) if len(moves) == 5 and is_won(moves)]

    assert len(short) == 1 + 9 + 9 * 8 + 9 * 8 * 7 + 9 * 8 * 7 * 6
    assert len(won) == 1_440
    for moves in (*short, *won)[:: short_or_long(7, 1)]:
        check_review(moves, first)


def is_won(moves: tuple[int, ...]) -> bool:
    """Return whether a game that X started ended with a line."""
    signs = EMPTY
    for cell, mark in zip(moves, "XOXOXOXOX", strict=False):
        signs = plain.put(signs, mark, cell)
    return bool(plain.winner(signs))


@pytest.mark.parametrize("first", Mark)
def test_random_games_are_reviewed_as_a_plain_search_would(first: Mark) -> None:
    rng = Random(7)
    for _ in range(short_or_long(300, 2_000)):
        moves = random_game(rng)
        check_review(moves[: rng.randint(len(moves) // 2, len(moves))], first)


def test_each_move_of_a_game_is_judged_on_the_board_it_was_made_on() -> None:
    for moves, found in finished_games()[:200]:
        board = Board()
        for cell, one in zip(moves, found.moves, strict=True):
            assert one == judge_move(board, cell)
            board = board.place(cell)


def test_a_game_that_was_won_was_decided_by_a_mistake_of_the_loser() -> None:
    """The empty board is a draw, so somebody made a mistake; after the last one nothing changed."""
    won = 0
    for moves, found in finished_games():
        if is_won(moves):
            won += 1
            winner = found.moves[-1].mark
            assert found.decisive is not None
            assert found.moves[found.decisive - 1].mark is winner.other
            later = found.moves[found.decisive :]
            assert {one.prospect.result for one in later if one.mark is winner} == {Result.WIN}
    assert 0 < won < len(finished_games())


def test_the_last_mistake_of_a_drawn_game_gave_up_a_win() -> None:
    """A player who gives up a win gets another chance only from a mistake."""
    for moves, found in finished_games():
        if not is_won(moves) and found.decisive:
            mistake = found.moves[found.decisive - 1].mistake
            assert mistake is not None
            assert mistake.kind is Kind.GIVES_UP_WIN


@pytest.mark.parametrize("first", Mark)
def test_a_game_without_moves_has_nothing_to_review(first: Mark) -> None:
    found = review((), first)

    assert found == Review((), Prospect(Result.DRAW, 9))
    assert found.mistakes == ()
    assert found.decisive is None


def test_a_game_without_mistakes_has_no_decisive_move() -> None:
    found = review(parse_moves("152374689"))

    assert found.mistakes == ()
    assert found.decisive is None
    assert found.standing == Prospect(Result.DRAW, 0)


def test_all_mistakes_are_listed_and_the_last_one_decides() -> None:
    """O answers the corner wrongly, X lets it pass, and then O overlooks a line."""
    found = review(parse_moves("123584679"))

    assert found.mistakes == (2, 3, 8)
    assert found.decisive == 8
    mistakes = [one.mistake.kind for one in found.moves if one.mistake]
    assert mistakes == [Kind.GIVES_UP_DRAW, Kind.GIVES_UP_WIN, Kind.GIVES_UP_DRAW]


def test_an_unfinished_game_is_reviewed_up_to_its_last_move() -> None:
    """After an edge in answer to a corner, X wins with the fifth token from there."""
    found = review(parse_moves("12"))

    assert found.mistakes == (2,)
    assert found.standing == Prospect(Result.WIN, 5)


def test_a_game_that_was_just_won_is_lost_for_the_one_to_move() -> None:
    assert review(parse_moves("12437")).standing == Prospect(Result.LOSS, 0)


def test_a_game_that_o_starts_is_reviewed_like_one_that_x_starts() -> None:
    moves = parse_moves("123584679")
    by_x, by_o = review(moves), review(moves, O)

    assert by_o.standing == by_x.standing
    assert by_o.mistakes == by_x.mistakes
    assert [one.mark for one in by_o.moves] == [O, X, O, X, O, X, O, X, O]
    assert tuple(one.replace(mark=one.mark.other) for one in by_o.moves) == by_x.moves


def test_the_moves_of_a_game_may_come_one_by_one() -> None:
    assert review(iter((0, 4, 8))) == review([0, 4, 8]) == review((0, 4, 8))
    assert review(takewhile(lambda cell: cell < 9, (0, 9))) == review((0,))


@pytest.mark.parametrize(
    ("moves", "refusal"),
    [
        ((4, 4), errors.CellTaken),
        ((4, 9), errors.NoSuchCell),
        ((-1,), errors.NoSuchCell),
        ((0, 3, 1, 4, 2, 5), errors.GameOver),
        ((0, 1, 2, 4, 3, 5, 7, 6, 8, 0), errors.GameOver),
    ],
)
def test_a_game_with_a_move_that_is_not_legal_is_refused(
    moves: tuple[int, ...], refusal: type[errors.IllegalMove]
) -> None:
    with pytest.raises(refusal):
        review(moves)


def test_who_starts_is_a_mark() -> None:
    with pytest.raises(TypeError, match=r"a mark is X or O, not 'o'"):
        review((), "o")  # type: ignore[arg-type]  # the wrong type is the test


def test_advice_and_reviews_are_values() -> None:
    assert len({judge_move(Board(), 4), judge_move(Board(), 4), judge_move(Board(), 0)}) == 2
    assert len({review((4,)), review((4,)), review((0,))}) == 2
