"""Random complete games a second through OpenSpiel; run by the interpreter of the peers."""

import random
import sys
import time

import pyspiel


def rate(seconds: float) -> float:
    """Play for so many seconds."""
    randrange = random.Random(1).randrange
    game = pyspiel.load_game("tic_tac_toe")
    games = 0
    start = time.perf_counter()
    while time.perf_counter() < start + seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[randrange(len(legal))])
        games += 1
    return games / (time.perf_counter() - start)


print(rate(float(sys.argv[1])))
