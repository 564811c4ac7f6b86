"""All 255,168 games through `decide` and `evolve`."""

from __future__ import annotations

import time

from noughts import CreateGame, Game, PlaceToken, decide, fold, replay


def count_games(game: Game) -> int:
    """Count the complete games that follow from this one."""
    if game.active is None:
        return 1
    return sum(
        count_games(fold(decide(game, PlaceToken(game.active, cell)), game))
        for cell in game.board.free_cells
    )


def walk_seconds() -> float:
    """Return the CPU seconds of the whole walk."""
    start = time.process_time()
    games = count_games(replay(decide(None, CreateGame())))
    seconds = time.process_time() - start
    if games != 255_168:
        raise AssertionError(f"walked {games} games, not 255,168")
    return seconds
