"""Random games per second through a PettingZoo environment, in the loop that PettingZoo documents.

Arguments: `noughts` or `pettingzoo`, `env` or `raw_env`, and seconds.
"""

import random
import sys
import time
from importlib import import_module

MODULES = {"noughts": "noughts.lab.aec_env", "pettingzoo": "pettingzoo.classic.tictactoe_v3"}


def rate(whose: str, kind: str, seconds: float) -> float:
    """Play for some seconds; the rate uses CPU time."""
    env = getattr(import_module(MODULES[whose]), kind)()
    choice = random.Random(1).choice
    games = 0
    start, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        env.reset()
        for _agent in env.agent_iter():
            observation, _reward, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            mask = info["action_mask"] if "action_mask" in info else observation["action_mask"]
            legal = [cell for cell, is_legal in enumerate(mask.tolist()) if is_legal]
            env.step(choice(legal))
        games += 1
    return games / (time.process_time() - start)


print(rate(sys.argv[1], sys.argv[2], float(sys.argv[3])))
