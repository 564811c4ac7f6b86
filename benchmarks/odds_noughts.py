"""Reckon the odds of two policies from nothing, once, and print the seconds of this process's time."""

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
