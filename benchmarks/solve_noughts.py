"""Solve all positions from nothing, once, and print the seconds of this process's own time."""

import time

from noughts.analysis.solver import prospect
from noughts.core.board import Board

board = Board()
start = time.process_time()
prospect(board)
print(time.process_time() - start)
