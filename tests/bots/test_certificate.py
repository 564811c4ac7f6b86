"""Certificates of bots, compared with other ways to search every game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from noughts import Board, Mark, O, X, errors
from noughts.analysis.solver import Result
from noughts.bots.certificate import Certificate, certify
from noughts.bots.ladder import perfect, random
from noughts.bots.menace.machine import BeadRules, Menace
from noughts.bots.menace.training import Training
from noughts.bots.odds import odds
from noughts.bots.policy import Policy
from noughts.bots.registry import BUILT_IN, find_policy

pytestmark = pytest.mark.thorough

NEVER_LOSE = ("perfect", "newell-simon")
FEW_GAMES = ("perfect", "newell-simon", "first")
SEATS = [(name, mark) for name in (*BUILT_IN, "first", "shy", "learned") for mark in Mark]
FROM_BAD_TO_GOOD = (Result.LOSS, Result.DRAW, Result.WIN)
WORTH = {Result.LOSS: Fraction(0), Result.DRAW: Fraction(1, 2), Result.WIN: Fraction(1)}


def first_cell(board: Board) -> Mapping[int, Fraction]:
    """Take the first free cell."""
    return {board.free_cells[0]: Fraction(1)}


def shy(board: Board) -> Mapping[int, Fraction]:
    """Move at random, and resign once there are five tokens."""
    return random(board) if board.count < 5 else {}


@cache
def named(name: str) -> Policy:
    """Return a bot: a built-in one, or one of this file."""
    if name == "learned":
        machine = Menace(BeadRules(empty="refill"))
        for mark in Mark:
            Training(machine, perfect, Random(1), mark).play(300)
        return machine
    return {"first": first_cell, "shy": shy}.get(name) or find_policy(name)


@cache
def certified(name: str, mark: Mark) -> Certificate:
    """Return the certificate of a bot in a seat."""
    return certify(named(name), mark)


def result_of(winner: Mark | None, mark: Mark) -> Result:
    """Return the result of a game for a mark."""
    if winner is None:
        return Result.DRAW
    return Result.WIN if winner is mark else Result.LOSS


class SecondCertificate:
    """A second implementation: finds each fact about a bot in a seat by a search of its own."""

    def __init__(self, policy: Policy, mark: Mark) -> None:
        self.policy = policy
        self.mark = mark
        self._moves: dict[Board, dict[int, Fraction]] = {}
        self._least: dict[Board, Fraction] = {}
        self._games: dict[tuple[Board, Result], int] = {}
        self._chances: dict[tuple[Board, Result], Fraction] = {}

    def moves(self, board: Board) -> dict[int, Fraction]:
        """Return the possible moves and their chances; the opponent may play anything."""
        if board not in self._moves:
            self._moves[board] = (
                {cell: Fraction(chance) for cell, chance in self.policy(board).items() if chance}
                if board.turn is self.mark
                else dict.fromkeys(board.free_cells, Fraction(1))
            )
        return self._moves[board]

    def end(self, board: Board) -> Result | None:
        """Return the result, if the game is over here; a bot without a move resigns."""
        if board.is_over:
            return result_of(board.winner, self.mark)
        return None if self.moves(board) else Result.LOSS

    def least(self, board: Board) -> Fraction:
        """Return the average score of the bot against the best opponent."""
        if board not in self._least:
            end = self.end(board)
            after = {cell: self.least(board.place(cell)) for cell in self.moves(board)} if not end else {}
            if end:
                self._least[board] = WORTH[end]
            elif board.turn is self.mark:
                total = Fraction(0)
                for cell, chance in self.moves(board).items():
                    total += chance * after[cell]
                self._least[board] = total
            else:
                self._least[board] = min(after.values())
        return self._least[board]

    def games(self, board: Board, result: Result) -> int:
        """Return how many games from here end like this."""
        key = board, result
        if key not in self._games:
            end = self.end(board)
            self._games[key] = (
                int(end is result)
                if end
                else sum(self.games(board.place(cell), result) for cell in self.moves(board))
            )
        return self._games[key]

    def likeliest(self, board: Board, result: Result) -> Fraction:
        """Return the highest chance of the bot's own moves in a game with this result; 0 without one."""
        key = board, result
        if key not in self._chances:
            end = self.end(board)
            self._chances[key] = (
                Fraction(end is result)
                if end
                else max(
                    chance * self.likeliest(board.place(cell), result)
                    for cell, chance in self.moves(board).items()
                )
            )
        return self._chances[key]

    def lines(
        self, board: Board, line: tuple[int, ...] = (), chance: Fraction = Fraction(1)
    ) -> Iterator[tuple[tuple[int, ...], Fraction, Result]]:
        """Return every game, with the chance of the bot's own moves and the result."""
        end = self.end(board)
        if end:
            yield line, chance, end
            return
        for cell, share in self.moves(board).items():
            yield from self.lines(board.place(cell), (*line, cell), chance * share)


@cache
def judged(name: str, mark: Mark) -> SecondCertificate:
    """Return the second implementation for a bot in a seat."""
    return SecondCertificate(named(name), mark)


@pytest.mark.parametrize(("name", "mark"), SEATS)
def test_the_worst_line_is_a_game_that_the_bot_can_play(name: str, mark: Mark) -> None:
    worst, policy = certified(name, mark).worst, named(name)
    board, chance = Board(), Fraction(1)
    for cell in worst.line:
        assert not board.is_over
        if board.turn is mark:
            assert policy(board)[cell] > 0
            chance *= policy(board)[cell]
        board = board.place(cell)

    assert chance == worst.chance
    if not board.is_over:
        assert board.turn is mark
        assert policy(board) == {}
    assert worst.result is (result_of(board.winner, mark) if board.is_over else Result.LOSS)


@pytest.mark.parametrize(("name", "mark"), SEATS)
def test_a_certificate_agrees_with_the_second_opinion(name: str, mark: Mark) -> None:
    """The games, the worst that can happen, and the least against the best opponent."""
    found, opinion = certified(name, mark), judged(name, mark)
    worse = FROM_BAD_TO_GOOD[: FROM_BAD_TO_GOOD.index(found.worst.result)]

    assert found.games == {result: opinion.games(Board(), result) for result in Result}
    assert all(found.games[result] == 0 for result in worse)
    assert found.games[found.worst.result] > 0
    assert all(opinion.likeliest(Board(), result) == 0 for result in worse)
    assert opinion.likeliest(Board(), found.worst.result) == found.worst.chance > 0
    assert found.least == opinion.least(Board())


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("name", FEW_GAMES)
def test_the_worst_line_is_the_first_of_all(name: str, mark: Mark) -> None:
    """The worst, then the likeliest, the shortest, and the first by cells."""
    found = certified(name, mark)
    every = sorted(
        (WORTH[result], -chance, len(line), line)
        for line, chance, result in judged(name, mark).lines(Board())
    )

    assert len(every) == sum(found.games.values())
    worst = found.worst
    assert every[0] == (WORTH[worst.result], -worst.chance, len(worst.line), worst.line)


def test_random_play_can_reach_every_game() -> None:
    x_wins, draws, o_wins = 131_184, 46_080, 77_904

    assert certified("random", X).games == {Result.WIN: x_wins, Result.DRAW: draws, Result.LOSS: o_wins}
    assert certified("random", O).games == {Result.WIN: o_wins, Result.DRAW: draws, Result.LOSS: x_wins}


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("name", NEVER_LOSE)
def test_some_bots_never_lose(name: str, mark: Mark) -> None:
    found = certified(name, mark)

    assert found.games[Result.LOSS] == 0
    assert found.games[Result.DRAW] > 0
    assert found.games[Result.WIN] > 0
    assert found.worst.result is Result.DRAW
    assert len(found.worst.line) == 9
    assert found.least == Fraction(1, 2)
    assert found.against_random.win(mark.other) == found.against_perfect.win(mark.other) == 0


@pytest.mark.parametrize(("name", "mark"), [seat for seat in SEATS if seat[0] not in NEVER_LOSE])
def test_all_others_can_lose(name: str, mark: Mark) -> None:
    found = certified(name, mark)

    assert found.worst.result is Result.LOSS
    assert found.least < Fraction(1, 2)


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("name", ["casual", "menace", "learned"])
def test_no_other_bot_leaves_less_than_the_least(name: str, mark: Mark) -> None:
    policy, least = named(name), certified(name, mark).least
    for other in map(find_policy, BUILT_IN):
        found = odds(policy, other) if mark is X else odds(other, policy)
        assert least <= found.score(mark)


@pytest.mark.parametrize(("name", "mark"), SEATS)
def test_a_certificate_has_the_odds(name: str, mark: Mark) -> None:
    found, policy = certified(name, mark), named(name)

    against_random, against_perfect = (
        odds(policy, other) if mark is X else odds(other, policy) for other in (random, perfect)
    )

    assert found.mark is mark
    assert found.against_random == against_random
    assert found.against_perfect == against_perfect
    assert 0 <= found.least <= against_random.score(mark)
    assert found.least <= against_perfect.score(mark) <= Fraction(1, 2)


def test_an_opponent_that_knows_the_bot_does_better_than_perfect_play() -> None:
    """Perfect play takes a certain draw where the best answer to chance takes a risk."""
    found = certified("random", X)

    assert found.least < found.against_perfect.score(X)


@pytest.mark.parametrize(("mark", "line"), [(X, ()), (O, (0,))])
def test_a_bot_that_resigns_at_once_has_lost_every_game(mark: Mark, line: tuple[int, ...]) -> None:
    found = certify(lambda _: {}, mark)

    assert found.worst.result is Result.LOSS
    assert found.worst.line == line
    assert found.worst.chance == 1
    assert found.games == {Result.WIN: 0, Result.DRAW: 0, Result.LOSS: 1 if mark is X else 9}
    assert found.least == 0


def test_a_bot_that_resigns_later_has_lost_where_it_does() -> None:
    """The line ends with the move before the resignation; among equals it is the first one."""
    found = certified("shy", O)

    assert found.worst.result is Result.LOSS
    assert len(found.worst.line) == 5
    assert found.games[Result.DRAW] == 0


def test_a_machine_with_an_empty_box_is_certain_to_lose_there() -> None:
    machine = Menace()
    machine.boxes[0] = [0, 0, 0]

    assert certify(machine, X).games == {Result.WIN: 0, Result.DRAW: 0, Result.LOSS: 1}
    assert certify(machine, O).least == certify(Menace(), O).least


def test_training_raises_the_least() -> None:
    for mark in Mark:
        assert certified("learned", mark).least > certified("menace", mark).least


def test_a_bad_policy_gets_no_certificate() -> None:
    def fails_late(board: Board) -> Mapping[int, Fraction]:
        return random(board) if board.count < 6 else {0: Fraction(1, 2)}

    with pytest.raises(errors.BadPolicy):
        certify(fails_late, X)


@pytest.mark.parametrize("mark", Mark)
def test_the_same_bot_gets_the_same_certificate(mark: Mark) -> None:
    assert certify(perfect, mark) == certified("perfect", mark)
