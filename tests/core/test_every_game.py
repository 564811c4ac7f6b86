"""All 255,168 games, one by one, through `decide` and `evolve`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from noughts import Board, CreateGame, Game, Mark, O, PlaceToken, X, decide, fold, replay

# How many sequences of so many moves there are, and how the complete ones end.
SEQUENCES = (1, 9, 72, 504, 3_024, 15_120, 54_720, 148_176, 200_448, 127_872)
ENDS = {X: 131_184, O: 77_904, None: 46_080}


def walk(game: Game, sequences: Counter[int], ends: Counter[Mark | None]) -> None:
    """Count this game and all its continuations."""
    sequences[len(game.moves)] += 1
    if game.active is None:
        ends[game.winner] += 1
        return
    for cell in game.board.free_cells:
        walk(fold(decide(game, PlaceToken(game.active, cell)), game), sequences, ends)


@pytest.mark.requirement("A4")
@pytest.mark.thorough
def test_there_are_255168_games_and_they_end_as_counted() -> None:
    sequences: Counter[int] = Counter()
    ends: Counter[Mark | None] = Counter()

    walk(replay(decide(None, CreateGame())), sequences, ends)

    assert tuple(sequences[ply] for ply in range(10)) == SEQUENCES
    assert ends == ENDS
    assert ends.total() == 255_168


@pytest.mark.thorough
def test_who_starts_only_swaps_the_marks() -> None:
    def ends(game: Game) -> Iterator[Board]:
        if game.active is None or len(game.moves) == 6:
            yield game.board
        else:
            for cell in game.board.free_cells:
                yield from ends(fold(decide(game, PlaceToken(game.active, cell)), game))

    by_x, by_o = (Counter(ends(replay(decide(None, CreateGame(first))))) for first in (X, O))

    assert by_o == {Board(board.o, board.x, O): count for board, count in by_x.items()}
