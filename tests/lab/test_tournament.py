"""Tournaments: pairings, exact odds, and games with programs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from errno import EMFILE
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random
from resource import RLIM_INFINITY

import pytest
from hypothesis import given, strategies as st

from noughts import Board, O, X
from noughts.bots.ladder import random
from noughts.bots.odds import odds
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import find_policy
from noughts.errors import (
    BadPolicy,
    CannotStartProgram,
    Forfeit,
    NoTournament,
    NoughtsError,
    UnknownPolicy,
)
from noughts.lab.match_runner import SERIES_GAMES, MatchRunner, max_workers, plan_series
from noughts.lab.tournament import Entrant, Forfeits, GameResult, Meeting, Tournament, enter, score
from support.hostile_bots import POLITE, Started, greets, plays, program

TIMEOUT_SECONDS = 30.0
NONE, HALF, ALL = Fraction(0), Fraction(1, 2), Fraction(1)
X_WINS, O_WINS = (ALL, NONE, NONE), (NONE, NONE, ALL)


FIRST = program(POLITE)
WEAK = program(
    POLITE.replace("polite", "weak").replace(
        "write(f", "words[1].count('O') > 3 and sys.exit(3); write(f"
    )
)
"""Crashes when it sees four O."""
RESIGNS = program(greets("for line in sys.stdin: line[0] == 'p' and write('resign')"))


def entered(*bots: str) -> tuple[Entrant, ...]:
    return enter(bots, find_policy, TIMEOUT_SECONDS)


def rng_for(game: str) -> Random:
    return Random(game)


def runner(
    tournament: Tournament, games: int, jobs: int, rng: Callable[[str], Random] = rng_for
) -> MatchRunner:
    series = plan_series(tournament.to_play, games)
    return MatchRunner(series, jobs, TIMEOUT_SECONDS, rng, tournament.record)


def held(*bots: str, games: int = 2, jobs: int = 2) -> Tournament:
    tournament = Tournament(entered(*bots), games)
    with runner(tournament, games, jobs) as workers:
        assert len([*workers]) == tournament.planned
    return tournament


def found(tournament: Tournament) -> dict[tuple[str, str], Meeting]:
    return {(one.x, one.o): one for one in tournament.meetings}


def test_names_are_unique_and_programs_name_themselves() -> None:
    typed = ["random", FIRST, "bot:perfect", f"{FIRST} again", "club:win=0", f"{FIRST} 'and again'"]

    bots = entered(*typed)

    assert [bot.name for bot in bots[::2]] == ["random", "perfect", "club:win=0"]
    assert [bot.name for bot in bots[1::2]] == ["program:polite", "program:polite-2", "program:polite-3"]
    assert [bot.asked for bot in bots] == typed
    assert f"program:{bots[1].command}" == FIRST


@pytest.mark.parametrize(
    ("kind", "bots", "sentence"),
    [
        (NoTournament, "random", "a tournament needs at least two bots, not only 'random'"),
        (NoTournament, "random club random", "'random' is named twice: a bot does not play itself"),
        (NoTournament, "bot:club club", "'club' is named twice: a bot does not play itself"),
        (NoTournament, "program:x program:x", "'program:x' is named twice: a bot does not play itself"),
        (Forfeit, "random program:", "program: needs a command, such as program:./mybot"),
        (Forfeit, "random program:'", '"\'" is not a command: No closing quotation'),
        (Forfeit, "random program:/none", "'/none' cannot be started: No such file or directory"),
        (Forfeit, "random program:false", "'false' ended with exit code 1"),
        (
            UnknownPolicy,
            "random bot:bot:club",
            "'bot:bot:club' has two prefixes: leave out the first bot:",
        ),
        (
            UnknownPolicy,
            "random bot:program:y",
            "'bot:program:y' has two prefixes: leave out the first bot:",
        ),
        (
            UnknownPolicy,
            "random club:luck=1",
            "club has no 'luck': it has win, block, fork, defence and centre",
        ),
    ],
)
def test_invalid_entrants_are_refused(kind: type[NoughtsError], bots: str, sentence: str) -> None:
    with pytest.raises(NoughtsError) as refused:
        entered(*bots.split())
    assert (type(refused.value), str(refused.value)) == (kind, sentence)


def test_no_program_is_started_if_a_policy_is_invalid(started: Started) -> None:
    with pytest.raises(UnknownPolicy):
        entered(FIRST, "nonesuch")
    assert started == []


def test_policies_have_exact_odds_in_both_seats() -> None:
    names = "random", "novice", "perfect"
    tournament = Tournament(entered(*names), 7)
    with pytest.raises(NoTournament, match="at most 1,000,000,000 games in each seat"):
        Tournament(tournament.entrants, 10**9 + 1)
    policies = {name: CachedPolicy(find_policy(name)) for name in names}

    assert tournament.planned == 0
    assert [(one.x, one.o) for one in tournament.meetings] == [*permutations(names, 2)]
    for meeting in tournament.meetings:
        exact = odds(policies[meeting.x], policies[meeting.o])
        assert meeting.shares == (exact.x, exact.draw, exact.o)
        assert (meeting.games, meeting.is_exact) == (7, True)


def test_a_policy_that_fails_anywhere_is_refused_before_the_games() -> None:

    def fragile(board: Board) -> Mapping[int, Fraction]:
        return random(board) if board.count < 8 else {board.cells.index(X): Fraction(1)}

    entrants = [Entrant("fragile", "fragile", CachedPolicy(fragile)), *entered(FIRST, "random")[:1]]
    with pytest.raises(BadPolicy, match="not a free cell"):
        Tournament(entrants, 1)


def test_a_score_counts_both_seats_equally() -> None:
    met = [
        Meeting("a", "b", 10, (HALF, HALF, NONE), is_exact=True),
        Meeting("b", "a", 10, O_WINS, is_exact=True),
        Meeting("a", "c", 5, O_WINS, is_exact=False),
        Meeting("c", "a", 0, (NONE, NONE, NONE), is_exact=False),
    ]

    assert score("a", "b", met) == Fraction(7, 8)
    assert score("b", "a", met) == Fraction(1, 8)
    assert score("c", "a", met) == 1
    assert score("a", None, met) == Fraction(175, 250)
    assert score("b", "c", met) is None
    uneven = [Meeting("a", "b", 9, X_WINS, is_exact=False), Meeting("b", "a", 1, X_WINS, is_exact=False)]
    assert score("a", "b", uneven) == score("b", "a", uneven) == score("a", None, uneven) == HALF


@given(st.integers(1, 4 * SERIES_GAMES), st.integers(1, 6))
def test_every_game_is_planned_once(games: int, pairs: int) -> None:
    bot = Entrant("", "", None)
    planned = list(plan_series([(bot.replace(name=str(pair)), bot) for pair in range(pairs)], games))

    seen: dict[str, list[int]] = {str(pair): [] for pair in range(pairs)}
    for series in planned:
        assert len(series.numbers) <= SERIES_GAMES
        seen[series.x.name] += series.numbers
        lengths = {len(numbers) for numbers in seen.values()}
        assert max(lengths) - min(lengths) <= SERIES_GAMES
    assert all(numbers == [*range(games)] for numbers in seen.values())


def test_programs_play_in_both_seats() -> None:
    other = f"{FIRST} other"
    tournament = held(FIRST, other, "random", "perfect", games=3)

    assert (tournament.planned, tournament.played) == (30, 30)
    meetings = found(tournament)
    assert meetings["program:polite", "program:polite-2"].shares == X_WINS
    assert meetings["program:polite-2", "program:polite"].shares == X_WINS
    assert [one.games for one in meetings.values()] == [3] * 12
    assert {pair for pair, one in meetings.items() if one.is_exact} == {
        ("random", "perfect"),
        ("perfect", "random"),
    }
    assert meetings["perfect", "program:polite"].shares[2] == 0
    assert tournament.forfeits == ()


def test_results_do_not_depend_on_the_number_of_jobs() -> None:
    alone, crowd = (held(WEAK, "random", games=SERIES_GAMES + 5, jobs=jobs) for jobs in (1, 6))

    assert alone.meetings == crowd.meetings
    assert alone.forfeits == crowd.forfeits != ()


def test_each_game_has_its_own_random_numbers() -> None:
    tournament = held(FIRST, "random", games=30)

    assert all(len([share for share in one.shares if share]) > 1 for one in tournament.meetings)


def test_resigning_loses() -> None:
    tournament = held(RESIGNS, "random")

    assert [one.shares for one in tournament.meetings] == [O_WINS, X_WINS]
    assert tournament.forfeits == ()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (plays("sys.exit(7)"), "hostile ended with exit code 7"),
        (plays("write('move 10')"), "hostile answered 'move 10', but cells are 1 to 9"),
        (greets("read(); write('hello'); read()"), "hostile wrote without being asked: 'hello\\n'"),
    ],
    ids=["ends", "moves badly", "writes unasked"],
)
def test_misbehaving_forfeits_and_the_reason_is_kept(code: str, reason: str) -> None:
    tournament = held(program(code), "random", games=3)

    assert [one.shares for one in tournament.meetings] == [O_WINS, X_WINS]
    (lost,) = tournament.forfeits
    assert (lost.name, lost.games) == ("program:hostile", 6)
    # the unexpected line may arrive before the next question, or after it
    assert lost.first in (reason, "hostile answered 'hello' instead of 'move 1' to 'move 9' or 'resign'")


def test_a_system_limit_is_not_a_forfeit(monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = Tournament(entered(FIRST, "random"), 3)

    def full(*_: object, **__: object) -> None:
        raise OSError(EMFILE, "Too many open files")

    monkeypatch.setattr(subprocess, "Popen", full)
    with (
        pytest.raises(CannotStartProgram, match=r"^no program can be started now: Too many open files$"),
        runner(tournament, 3, 1) as workers,
    ):
        list(workers)
    assert (tournament.played, tournament.forfeits) == (0, ())


@pytest.mark.parametrize(("files", "workers"), [(64, 1), (256, 16), (1024, 32), (RLIM_INFINITY, 32)])
def test_open_files_limit_the_workers(files: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (files, files))

    assert max_workers() == workers


def test_a_program_that_stops_starting_forfeits(tmp_path: Path) -> None:
    once = tmp_path / "once"
    tournament = held(program(f"os.mkdir(sys.argv[1])\n{POLITE}", once), "random", games=1)

    assert [one.shares for one in tournament.meetings] == [O_WINS, X_WINS]
    assert tournament.forfeits[0].games == 2
    assert 'complaining: "FileExistsError' in tournament.forfeits[0].first


def test_the_first_reason_is_from_the_first_planned_game() -> None:
    bots = (*entered("random", "perfect"), Entrant("weak", "program:weak", None))
    tournament = Tournament(bots, 9)
    for x, o, number in (("weak", "random", 0), ("random", "weak", 5), ("random", "weak", 2)):
        tournament.record(GameResult(x, o, number, X if o == "weak" else O, f"{x} {o} {number}"))
    tournament.record(GameResult("random", "weak", 1, None))

    assert tournament.forfeits == (Forfeits("weak", 3, "random weak 2"),)
    assert tournament.played == 4


def test_all_processes_end_at_the_end_or_early(started: Started) -> None:
    held(FIRST, "random", games=2)
    assert [process.returncode for process in started] == [0, 0, 0]

    waits = POLITE.replace("write(f", "words[1].count('X') and wait(); write(f")
    tournament = Tournament(entered(program(waits), FIRST, "random"), 50)
    recorded: list[GameResult] = []
    workers = MatchRunner(
        plan_series(tournament.to_play, 50), 6, TIMEOUT_SECONDS, rng_for, recorded.append
    )
    with suppress(KeyboardInterrupt), workers:
        for _ in workers:
            raise KeyboardInterrupt

    assert all(process.returncode is not None for process in started)
    assert 1 <= len(recorded) < 300


def test_an_error_in_a_worker_is_raised_by_the_iterator(started: Started) -> None:

    def broken(_: str) -> Random:
        raise BadPolicy("no luck")

    tournament = Tournament(entered(FIRST, "random"), 50)
    with (
        pytest.raises(BadPolicy, match="no luck"),
        runner(tournament, 50, 2, broken) as workers,
    ):
        list(workers)
    assert all(process.returncode is not None for process in started)
