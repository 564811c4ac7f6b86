"""A program that plays, in ten lines: `noughts play --o "program:python3 examples/bot.py"`."""

import random
import sys

for line in sys.stdin:
    match line.split():
        case ["noughts", _]:
            print("name chance", flush=True)
        case ["position", board, _]:
            free = [cell for cell, sign in enumerate(board.replace("/", ""), 1) if sign == "_"]
            print("move", random.choice(free), flush=True)
        case ["bye"]:
            break
