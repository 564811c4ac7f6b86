"""Tabular Q-learning in ten lines: a table learns by playing thousands of games against itself at once.

Run it with `python examples/q_learning.py q.json`; then play the file with `noughts play --o
bot:saved:file=q.json` in the terminal, or with `noughts serve --bot q-learner=q.json` on the web.

The table starts with zeros, so each value always lies between 0 and the true value of its move, and only
gets closer to it. Draws are right from the start, a move is misjudged only until what follows has been
tried, and nothing is unlearned: a table that cannot lose stays so. How many steps that takes is luck, but
the odds and the last lines that this program prints are computed over all games, not sampled.
"""

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from noughts import O, Odds, Policy, Result, X, certify, find_policy, odds, save_policy
from noughts.bots.odds import percent
from noughts.lab import POSITIONS, Rules, TicTacToeVectorEnv, greedy

Table: TypeAlias = NDArray[np.float64]
"""The value of each cell for the player to move: a row of nine for each position."""

GAMES, EXPLORE, RATE, DISCOUNT = 4096, 0.5, 0.5, 0.9
"""Games at once, the chance of a random move, the learning rate, and the value of a win one move later,
which makes it win as soon as it can."""


def new_table() -> Table:
    """Return a table that knows only the rules: a taken cell is never the best."""
    return np.where(Rules().legal(np.arange(POSITIONS)), 0.0, -np.inf)


def learning(seed: int | None = None) -> Iterator[Table]:
    """Yield the table before each step, without end; a step is one move in every game."""
    env = TicTacToeVectorEnv(GAMES, opponent=None, autoreset_mode="SameStep")
    rng, q = np.random.default_rng(seed), new_table()
    here = env.reset()[1]["position"]
    while True:
        yield q
        explores = rng.random((GAMES, 1)) < EXPLORE
        noise = rng.random((GAMES, 9)) * np.where(explores, 1e9, 1e-9)  # decides alone, or breaks ties
        cells = (q[here] + noise).argmax(axis=1)
        _, rewards, are_over, _, infos = env.step(cells)
        there = infos["position"]  # the opponent is to move: what is good for her is bad here
        worth = np.where(are_over, rewards, -DISCOUNT * q[there].max(axis=1))
        q[here, cells] += RATE * (worth - q[here, cells])  # games with the same move see the same
        here = there


def both_odds(policy: Policy, opponent: Policy) -> tuple[Odds, Odds]:
    """Return the exact odds of a policy as X and as O."""
    return odds(policy, opponent), odds(opponent, policy)


def print_odds(step: int, policy: Policy) -> None:
    """Print the results of a policy against perfect and random play, in percent."""
    columns = [f"{step:5}"]
    for name in ("perfect", "random"):
        for mark, found in zip((X, O), both_odds(policy, find_policy(name)), strict=True):
            chances = (found.win(mark), found.draw, found.win(mark.other))
            columns.append("".join(f"{percent(chance).removesuffix(' %'):>6}" for chance in chances))
    print("   ".join(columns))


def print_certificate(policy: Policy) -> None:
    """Print how all possible games of a policy end, against any opponent."""
    for mark in (X, O):
        games = certify(policy, mark).games
        print(
            f"As {mark} it can win {games[Result.WIN]:,} different games, draw {games[Result.DRAW]:,} "
            f"and lose {games[Result.LOSS]:,}."
        )


def why_not_writable(file: str) -> str:
    """Return why a file cannot be written, or nothing; better to know before learning."""
    try:
        path = Path(file).resolve()
        if file.endswith(os.sep) or (path.exists() and not path.is_file()):
            return "it is not a regular file"
        with TemporaryFile(dir=path.parent):
            return ""
    except (OSError, RuntimeError, ValueError) as error:
        return getattr(error, "strerror", str(error))


def main() -> None:
    """Learn, print the odds whenever the number of steps has doubled, and save the policy."""
    parser = ArgumentParser(description="Tabular Q-learning, from nothing to a bot.")
    parser.add_argument("file", help="where the policy is saved, such as q.json")
    parser.add_argument("--steps", type=int, default=256, help="moves in each game (%(default)s)")
    parser.add_argument("--seed", type=int, help="makes the run reproducible")
    options = parser.parse_args()
    if options.steps < 0:
        parser.error(f"--steps must be 0 or more, not {options.steps}")
    if options.seed is not None and options.seed < 0:
        parser.error(f"--seed must be 0 or more, not {options.seed}")
    if why := why_not_writable(options.file):
        parser.error(f"{options.file!r} cannot be written: {why}")
    print("     " + "".join(f"{seat:>21}" for seat in ("perfect, as X", "as O", "random, as X", "as O")))
    print("steps" + "      win  draw  lose" * 4)
    tables = learning(options.seed)
    policy = greedy(next(tables))
    print_odds(0, policy)
    for step in range(1, options.steps + 1):
        q = next(tables)
        if step == options.steps or (step > 4 and step.bit_count() == 1):
            policy = greedy(q)
            print_odds(step, policy)
    save_policy(policy, options.file)
    print_certificate(policy)


if __name__ == "__main__":
    main()
