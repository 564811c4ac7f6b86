"""Random complete games per second through OpenSpiel; run by the interpreter of the peers."""

import random
import sys
import time

import pyspiel


def rate(seconds: float, batch: int) -> float:
    """Play for some seconds, reading the clock after each batch of games.

    The rate uses CPU time, which a busy machine does not affect.
    """
    randrange = random.Random(1).randrange
    game = pyspiel.load_game("tic_tac_toe")
    games = 0
    start, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(batch):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[randrange(len(legal))])
        games += batch
    return games / (time.process_time() - start)


print(rate(float(sys.argv[1]), int(sys.argv[2])))
