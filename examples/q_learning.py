"""Tabular Q-learning in ten lines: thousands of games at once, a table learns to play against itself.

Run it with `python examples/q_learning.py q.json`; then the file plays, with `noughts play --o
bot:saved:file=q.json` in the terminal and with `noughts serve --bot q-learner=q.json` on the web.

What is certain: the table begins with zeros, so a number in it always lies between 0 and what its move is
truly worth, and only comes nearer. A draw is known from the start, a move is misjudged only as long as
nobody has tried what follows it, and nothing is unlearned: a table that cannot lose will never lose.
When it gets there is a matter of luck, and no number of steps is a promise. Whether it has got there is
none: the odds and the last lines that this program prints are reckoned over all games, and not counted.
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
"""What each of the nine cells is worth to whoever is to move, a row for each position."""

GAMES, EXPLORE, RATE, DISCOUNT = 4096, 0.5, 0.5, 0.9
"""How many games are played at once, how often a move is left to chance, how far a number goes towards
what was seen, and what a win is worth a move later: so it wins as soon as it can."""


def new_table() -> Table:
    """Return a table that knows nothing but the rules: no cell that is taken is ever the best."""
    return np.where(Rules().legal(np.arange(POSITIONS)), 0.0, -np.inf)


def learning(seed: int | None = None) -> Iterator[Table]:
    """Return the table as it is before each step, for ever: a step is one move in every game."""
    env = TicTacToeVectorEnv(GAMES, opponent=None, autoreset_mode="SameStep")
    rng, q = np.random.default_rng(seed), new_table()
    here = env.reset()[1]["position"]
    while True:
        yield q
        is_bold = rng.random((GAMES, 1)) < EXPLORE
        lots = rng.random((GAMES, 9)) * np.where(is_bold, 1e9, 1e-9)  # decide alone, or settle ties
        cells = (q[here] + lots).argmax(axis=1)
        _, rewards, are_over, _, infos = env.step(cells)
        there = infos["position"]  # where the opponent is to move: what is good for her is bad here
        worth = np.where(are_over, rewards, -DISCOUNT * q[there].max(axis=1))
        q[here, cells] += RATE * (worth - q[here, cells])  # games that meet in a cell saw the same
        here = there


def fares(policy: Policy, opponent: Policy) -> tuple[Odds, Odds]:
    """Return the exact odds of a policy as X and as O."""
    return odds(policy, opponent), odds(opponent, policy)


def tell_odds(step: int, policy: Policy) -> None:
    """Print how a policy fares against perfect and random play, in percent."""
    columns = [f"{step:5}"]
    for name in ("perfect", "random"):
        for mark, found in zip((X, O), fares(policy, find_policy(name)), strict=True):
            chances = (found.win(mark), found.draw, found.win(mark.other))
            columns.append("".join(f"{percent(chance).removesuffix(' %'):>6}" for chance in chances))
    print("   ".join(columns))


def tell_certificate(policy: Policy) -> None:
    """Print what can happen to a policy, whoever it plays."""
    for mark in (X, O):
        games = certify(policy, mark).games
        print(
            f"As {mark} it can win {games[Result.WIN]:,} different games, draw {games[Result.DRAW]:,} "
            f"and lose {games[Result.LOSS]:,}."
        )


def why_not_written(file: str) -> str:
    """Say why a file cannot be written, if it cannot: it would be a pity to learn first."""
    try:
        path = Path(file).resolve()
        if file.endswith(os.sep) or (path.exists() and not path.is_file()):
            return "it is no plain file"
        with TemporaryFile(dir=path.parent):
            return ""
    except (OSError, RuntimeError, ValueError) as error:
        return getattr(error, "strerror", str(error))


def main() -> None:
    """Learn, tell the odds when the number of steps has doubled, and save what was learned."""
    parser = ArgumentParser(description="Tabular Q-learning, from nothing to a bot.")
    parser.add_argument("file", help="where the policy is saved, such as q.json")
    parser.add_argument("--steps", type=int, default=256, help="moves in each game (%(default)s)")
    parser.add_argument("--seed", type=int, help="the same seed learns the same")
    options = parser.parse_args()
    if options.steps < 0:
        parser.error(f"nobody learns in {options.steps} steps: 0 or more")
    if options.seed is not None and options.seed < 0:
        parser.error(f"{options.seed} is no seed: 0 or more")
    if why := why_not_written(options.file):
        parser.error(f"{options.file!r} cannot be written: {why}")
    print("     " + "".join(f"{seat:>21}" for seat in ("perfect, as X", "as O", "random, as X", "as O")))
    print("steps" + "      win  draw  lose" * 4)
    tables = learning(options.seed)
    policy = greedy(next(tables))
    tell_odds(0, policy)
    for step in range(1, options.steps + 1):
        q = next(tables)
        if step == options.steps or (step > 4 and step.bit_count() == 1):
            policy = greedy(q)
            tell_odds(step, policy)
    save_policy(policy, options.file)
    tell_certificate(policy)


if __name__ == "__main__":
    main()
