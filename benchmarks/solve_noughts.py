"""Solve all positions once, from nothing, and print the CPU seconds."""

import time

from noughts.analysis.solver import prospect
from noughts.core.board import Board

board = Board()
start = time.process_time()
prospect(board)
print(time.process_time() - start)
