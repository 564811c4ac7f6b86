"""`noughts simulate`: millions of games, counted with intervals next to the exact odds."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import time
from argparse import Namespace
from contextlib import suppress
from fractions import Fraction
from math import isclose, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from noughts import Policy, find_policy, odds
from noughts.cli.commands.simulate import Share, shares, simulate
from noughts.cli.extras import needs_extra
from noughts.lab import simulation
from noughts.lab.batch_play import NO_GAMES, Tally
from noughts.lab.simulation import PIECE_GAMES, Simulation
from support.at_once import run_code
from support.command import COMMAND, environment
from support.deadlines import DEADLINE_SECONDS
from support.fake_console import RecordingBar
from support.pseudo_terminal import CTRL_C, between_pipes, in_terminal

RANDOM, CLUB, PERFECT = map(find_policy, ("random", "club", "perfect"))


def output_of(bar: RecordingBar | None = None, **changes: Any) -> str:  # noqa: ANN401 - any option
    """Return the output of a simulation in this process."""
    options = {"x": "random", "o": "random", "games": 1000, "seed": 1, "jobs": 1, "json": False}
    out = io.StringIO()
    simulate(Namespace(**{**options, **changes}), out, bar or RecordingBar())
    return out.getvalue()


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> int:
    """Use smaller pieces, so that processes share fewer games; return the size."""
    monkeypatch.setattr(simulation, "PIECE_GAMES", 32_000)
    return 32_000


def total(x: Policy, o: Policy, games: int, seed: int | None = 1, jobs: int = 1) -> Tally:
    """Return how all games of a simulation ended."""
    return sum(Simulation(x, o, games, seed).run(jobs), NO_GAMES)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_same_seed_counts_the_same_however_many_processes_share_the_work(
    jobs: int, small_pieces: int
) -> None:
    """The work is cut into the same pieces, each with its own random numbers."""
    games = 3 * small_pieces + 5
    assert total(RANDOM, RANDOM, games, 7, jobs) == total(RANDOM, RANDOM, games, 7)
    assert total(RANDOM, RANDOM, games, 8) != total(RANDOM, RANDOM, games, 7)


def test_policies_are_shared_with_other_processes(small_pieces: int) -> None:
    """As tables, since a policy can be any object."""
    tally = total(CLUB, PERFECT, 4 * small_pieces, 2, jobs=2)

    exact = odds(CLUB, PERFECT)
    assert tally.games == 4 * small_pieces
    assert tally.x == 0
    allowed = 5 * sqrt(tally.games * exact.draw * exact.o)
    assert abs(tally.draw - float(tally.games * exact.draw)) < allowed


def test_without_a_seed_other_games_are_played_each_time() -> None:
    assert total(RANDOM, RANDOM, 5000, None) != total(RANDOM, RANDOM, 5000, None)


def test_pieces_come_one_by_one_and_add_up() -> None:
    for games in (1, 16_001, 1_000_000):
        pieces = [piece.games for piece in Simulation(RANDOM, RANDOM, games, 1).run(1)]
        assert sum(pieces) == games
        assert max(pieces) <= 16_000


def test_ctrl_c_prints_the_games_played() -> None:
    """The whole pieces with their intervals; the exit code is 130."""
    bar, out = RecordingBar(interrupts_at=PIECE_GAMES), io.StringIO()
    options = Namespace(x="random", o="random", games=10**12, seed=1, jobs=1, json=False)

    with pytest.raises(SystemExit) as leaving:
        simulate(options, out, bar)

    assert leaving.value.code == 130
    assert bar.is_clear
    first, *rows = out.getvalue().splitlines()
    assert first.startswith(
        f"random (X) against random (O): {PIECE_GAMES:,} of 1,000,000,000,000 games in "
    )
    assert len(rows) == 5


def test_ctrl_c_before_the_first_piece() -> None:
    for is_json in (False, True):
        out = io.StringIO()
        options = Namespace(x="random", o="random", games=PIECE_GAMES, seed=1, jobs=1, json=is_json)
        with pytest.raises(SystemExit):
            simulate(options, out, RecordingBar(interrupts_at=0))
        text = out.getvalue()
        assert json.loads(text)["games"] == 0 if is_json else " 0 of " in text


def test_data_is_complete() -> None:
    found = json.loads(output_of(json=True, x="club", o="perfect", games=5000))
    exact = odds(CLUB, PERFECT)

    assert (found["x"], found["o"], found["games"], found["asked"]) == ("club", "perfect", 5000, 5000)
    assert sum(found[end]["count"] for end in ("x_wins", "draw", "o_wins")) == 5000
    assert [Fraction(found[e]["exact"]) for e in ("x_wins", "draw", "o_wins")] == [
        exact.x,
        exact.draw,
        exact.o,
    ]
    low, high = found["draw"]["interval"]
    assert low < found["draw"]["share"] < high
    assert found["x_wins"]["errors"] is None
    assert Fraction(found["length"]["exact"]) == exact.length


@given(st.integers(1, 10**9), st.fractions(0, 1))
def test_an_interval_contains_its_share_and_stays_between_0_and_1(games: int, part: Fraction) -> None:
    """What never happened may still be possible."""
    count = int(games * part)
    low, high = Share("draw", count, games, Fraction(1, 2)).interval

    assert 0 <= low <= count / games <= high <= 1
    assert low < high
    assert (low == 0) == (count == 0)
    assert (high == 1) == (count == games)


def test_errors_are_counted_in_standard_errors() -> None:
    """Of a hundred tosses, sixty heads are two standard errors off."""
    assert isclose(Share("heads", 60, 100, Fraction(1, 2)).errors or 0, 2.0)
    assert Share("never", 0, 100, Fraction(0)).errors is None
    assert Share("never", 1, 100, Fraction(0)).errors == float("inf")
    assert Share("hardly", 0, 100, Fraction(1, 10**400)).errors is not None
    assert Share("hardly", 1, 100, Fraction(1, 10**999)).errors == float("inf")


def test_shares_are_those_of_the_tally() -> None:
    exact = odds(RANDOM, RANDOM)

    found = shares(Tally(5, 3, 2, 70), exact)

    assert [(share.what, share.count, share.games) for share in found] == [
        ("X wins", 5, 10),
        ("draw", 3, 10),
        ("O wins", 2, 10),
    ]


def test_a_terminal_shows_a_bar_until_ctrl_c() -> None:
    """The two worker processes print nothing."""
    with in_terminal("simulate", "--games", "1000000000000", "--jobs", "2") as session:
        session.expect("[")
        session.type(CTRL_C)
        session.read_until(r"random \(X\) against random \(O\): [\d,]+ of 1,000,000,000,000 games in")
        assert session.end() == 130
    assert b"Traceback" not in session.output


def test_ctrl_c_in_the_middle_prints_the_counts() -> None:
    with in_terminal("simulate", "--games", "300000000", "--jobs", "2") as session:
        session.read_until(r"\] [1-9]\d* %")
        session.type(CTRL_C)
        session.read_until(r"\(O\): [1-9][\d,]+ of 300,000,000 games in")
        session.expect("std. errors")
        assert session.end() == 130
    assert b"Traceback" not in session.output


def test_a_killed_process_is_reported() -> None:
    """The system may be short of memory; the counts until then are printed."""
    with subprocess.Popen(
        [*COMMAND, "simulate", "--games", "1000000000000", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        os.kill(a_worker_of(process.pid), signal.SIGKILL)
        output, complaint = process.communicate(timeout=DEADLINE_SECONDS)

    assert process.returncode == 1
    assert "of 1,000,000,000,000 games in" in output
    assert complaint == "noughts: cannot continue: a worker process was killed\n"


def a_worker_of(process: int) -> int:
    """Wait for the first worker process of another, and return it."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            with suppress(FileNotFoundError):
                if b"multiprocessing-fork" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
    pytest.fail("nobody came to share the work")


def test_a_closed_pipe_ends_the_command_silently() -> None:
    with between_pipes("simulate", "--games", "1000000", "--jobs", "1") as session:
        session.stop_reading()
        assert session.end() == 0


def test_without_the_lab_packages_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['numpy'] = None; from noughts.__main__ import main; sys.exit(main())"
    ran = run_code(code, "simulate", env=environment())

    assert ran.returncode == 2
    assert ran.stderr == (
        "noughts: this needs 'numpy', which is not installed: pip install 'noughts[lab]'\n"
    )


def test_a_failed_import_of_a_command_without_packages_is_not_hidden() -> None:
    with pytest.raises(ImportError, match=r"^broken$"), needs_extra(None):
        raise ImportError("broken")
