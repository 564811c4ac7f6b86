"""Compute the odds of two policies once, from nothing, and print the CPU seconds."""

import sys
import time

from noughts.bots.odds import odds
from noughts.bots.registry import find_policy

x, o = sys.argv[1:]
start = time.process_time()
found = odds(find_policy(x), find_policy(o))
print(time.process_time() - start)
if found.x + found.draw + found.o != 1:
    raise AssertionError("the odds do not add up to one")
