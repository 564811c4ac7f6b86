"""`noughts watch`: games between bots."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise
from random import Random

import pytest

from noughts import NARRATIVE, Mark
from noughts.cli.commands.watch import Pause, RandomOpponent, watch
from noughts.cli.opening import Starters
from noughts.cli.screen import Display, Screen
from support.forked import noughts


def test_pauses_are_between_moves() -> None:
    """None before the first move, and none after the last."""
    slept: list[float] = []
    pause = Pause(2.0, Screen(StringIO(), Display(NARRATIVE, sleep=slept.append)))

    pause()
    assert slept == []

    pause()
    pause()
    assert slept == [2.0, 2.0]


def test_one_pause_for_each_move_but_the_first() -> None:
    slept: list[float] = []
    out = StringIO()

    screen = Screen(out, Display(NARRATIVE, sleep=slept.append))
    watch(
        screen,
        (),
        Starters("loser", Random(3)),
        dict.fromkeys(Mark, RandomOpponent(Random(3))),
        Pause(0.5, screen),
        2,
    )

    moves = sum(line in ("Player X:", "Player O:") for line in out.getvalue().splitlines())
    assert len(slept) == moves - 1


def test_games_are_counted_at_the_end() -> None:
    ran = noughts("watch", "--interval", "0", "--seed", "1", "--games", "20")
    *shown, tally = ran.stdout.splitlines()

    x, o, drawn = (
        shown.count(line) for line in ("PLAYER X WON!", "PLAYER O WON!", "THE GAME ENDS WITH A DRAW!")
    )
    assert x + o + drawn == 20
    assert tally == f"Tally: Player X {x}, Player O {o}, draws {drawn}"


def starters(*options: str) -> list[tuple[str, str]]:
    """Return who started and who won, or that it was drawn, in each of 30 games."""
    ran = noughts("watch", "--interval", "0", "--seed", "s", "--games", "30", *options)
    lines = [line for line in ran.stdout.splitlines() if not line.startswith("Tally")]
    moved = [at for at, line in enumerate(lines) if line in ("Player X:", "Player O:")]
    ended = [at for at, line in enumerate(lines) if "won" in line.lower() or "draw" in line.lower()]
    first = [next(at for at in moved if at > end) for end in (-1, *ended[:-1])]
    assert len(ended) == 30
    return [(lines[at][7], lines[end]) for at, end in zip(first, ended, strict=True)]


def test_the_loser_starts_the_next_game() -> None:
    played = starters("--first", "loser")

    assert played[0][0] == "X"
    for (first, result), (following, _) in pairwise(played):
        winner = {"PLAYER X WON!": "X", "PLAYER O WON!": "O"}.get(result, first)
        assert following != winner


@pytest.mark.parametrize("first", ["X", "O"])
@pytest.mark.parametrize("wording", ["narrative", "kata"])
def test_an_explicit_starter_starts_every_game(first: str, wording: str) -> None:
    assert {mark for mark, _ in starters("--first", first, "--wording", wording)} == {first}
    assert {mark for mark, _ in starters("--wording", wording)} == {"X"}
