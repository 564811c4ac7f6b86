"""Random complete games a second through noughts' public, checked board."""

import random
import sys
import time

from noughts import Board


def rate(seconds: float, batch: int) -> float:
    """Play for so many seconds, looking at the clock after each batch of games.

    The rate is by this process's own time, which a busy machine does not take away.
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
