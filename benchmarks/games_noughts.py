"""Random complete games a second through noughts' public, checked board."""

import random
import sys
import time

from noughts import Board

BATCH = 1_000  # games between two looks at the clock, which are not what is measured


def rate(seconds: float) -> float:
    """Play for so many seconds of this process's own time, which a busy machine does not take away."""
    randrange = random.Random(1).randrange
    games = 0
    start = time.process_time()
    while time.process_time() < start + seconds:
        for _ in range(BATCH):
            board = Board()
            while not board.is_over:
                free = board.free_cells
                board = board.place(free[randrange(len(free))])
        games += BATCH
    return games / (time.process_time() - start)


print(rate(float(sys.argv[1])))
