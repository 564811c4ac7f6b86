"""Random complete games per second through noughts' public, checked board."""

import random
import sys
import time

from noughts import Board


def rate(seconds: float, batch: int) -> float:
    """Play for some seconds, reading the clock after each batch of games.

    The rate uses CPU time, which a busy machine does not affect.
    """
    randrange = random.Random(1).randrange
    games = 0
    start, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(batch):
            board = Board()
            while not board.is_over:
                free = board.free_cells
                board = board.place(free[randrange(len(free))])
        games += batch
    return games / (time.process_time() - start)


print(rate(float(sys.argv[1]), int(sys.argv[2])))
