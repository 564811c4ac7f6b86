"""Whole random games on a GPU, every move played: `python -m benchmarks.lab.device [BACKEND]`.

Run it by hand on a machine with a GPU; the default backend is torch:cuda, compiled.
"""

from __future__ import annotations

import sys
import time
from math import sqrt
from typing import TYPE_CHECKING

from noughts import find_policy, odds, reachable
from noughts.lab.arrays import Rules
from noughts.lab.batch_play import NO_GAMES

if TYPE_CHECKING:
    from noughts import Odds
    from noughts.lab.batch_play import Match, Tally

WARM_UP, BATCHES, ROUNDS = 3, 40, 5


def main() -> None:
    """Check the rules against the core on the device, then measure."""
    name = sys.argv[1] if len(sys.argv) > 1 else "torch:cuda"
    compiled = name.partition(":")[0] in ("torch", "jax")
    rules = Rules(name, compiled=compiled)
    print(f"{name}{', compiled' if compiled else ''}: {_check_rules(rules):,} steps agree with the core")
    random = find_policy("random")
    _measure("random games", rules, rules.match(), odds(random, random))
    club = find_policy("club")
    _measure("club against club", rules, rules.match(club, club), odds(club, club))


def _check_rules(rules: Rules) -> int:
    """Compare every action in every position with the core, and return their number."""
    boards = reachable()
    for action in range(-1, 10):
        after, illegal = rules.step(rules.positions(boards), [action] * len(boards))
        results = zip(boards, rules.boards(after), illegal, strict=True)
        for board, now, is_illegal in results:
            refused = board.why_not(action, board.turn) is not None
            if bool(is_illegal) != refused or now is not (board if refused else board.place(action)):
                sys.exit(f"{action} in {board} leads to {now}")
    return 11 * len(boards)


def _measure(what: str, rules: Rules, match: Match, exact: Odds) -> None:
    batch, rng = rules.backend.batch, rules.backend.random_numbers(1)
    for _ in range(WARM_UP):
        match.count(batch, rng)
    rates, tally, memory = [], NO_GAMES, []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        counted = sum((match.count(batch, rng) for _ in range(BATCHES)), NO_GAMES)
        rates.append(counted.games / (time.perf_counter() - started))
        tally += counted
        memory.append(_peak_memory_mb(rules))
    rate = sorted(rates)[ROUNDS // 2]
    print(
        f"{what}, batch {batch:,}: {rate / 1e9:.1f} × 10⁹ games/s ({min(rates) / 1e9:.1f} to "
        f"{max(rates) / 1e9:.1f}), {rate * float(exact.length) / 1e9:.0f} × 10⁹ moves/s; "
        f"{tally.games:,} games, at most {_errors(tally, exact):.2f} standard errors off; "
        f"memory after each round: {', '.join(f'{used:,} MB' for used in memory)}"
    )


def _errors(tally: Tally, exact: Odds) -> float:
    """Return the largest deviation in standard errors."""
    games = tally.games
    counts = (tally.x, exact.x), (tally.draw, exact.draw), (tally.o, exact.o)
    return max(
        abs(count - float(games * chance)) / sqrt(games * chance * (1 - chance) or 1)
        for count, chance in counts
    )


def _peak_memory_mb(rules: Rules) -> int:
    """Return the peak memory in MB, if the library reports it."""
    cuda = getattr(rules.backend.xp, "cuda", None)
    most = getattr(cuda, "max_memory_allocated", lambda: 0)
    return int(most() // 1_000_000)


if __name__ == "__main__":
    main()
