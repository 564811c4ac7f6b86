"""Random complete games a second through OpenSpiel; run by the interpreter of the peers."""

import random
import sys
import time

import pyspiel

BATCH = 1_000  # games between two looks at the clock, which are not what is measured


def rate(seconds: float) -> float:
    """Play for so many seconds of this process's own time, which a busy machine does not take away."""
    randrange = random.Random(1).randrange
    game = pyspiel.load_game("tic_tac_toe")
    games = 0
    start = time.process_time()
    while time.process_time() < start + seconds:
        for _ in range(BATCH):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[randrange(len(legal))])
        games += BATCH
    return games / (time.process_time() - start)


print(rate(float(sys.argv[1])))
