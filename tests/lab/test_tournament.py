"""Tournaments: who meets whom, exact odds where there are some, and games at many tables where not."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from errno import EMFILE
from fractions import Fraction
from itertools import permutations
from random import Random
from resource import RLIM_INFINITY
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from noughts import O, X, errors
from noughts.bots.ladder import random
from noughts.bots.odds import odds
from noughts.bots.policy import CachedPolicy
from noughts.bots.program import CannotStartProgram
from noughts.bots.registry import find_policy
from noughts.lab.errors import NoTournament
from noughts.lab.match_runner import SERIES_GAMES, MatchRunner, max_workers, plan_series
from noughts.lab.tournament import (
    Entrant,
    Forfeits,
    GameResult,
    Meeting,
    Tournament,
    display_width,
    enter,
    score,
    shorten,
)
from support.hostile_bots import POLITE, command, greets, plays

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from noughts import Board

PATIENT = 30.0
"""Seconds, for all that will come; nobody waits so long."""
NONE, HALF, ALL = Fraction(0), Fraction(1, 2), Fraction(1)
X_WINS, O_WINS = (ALL, NONE, NONE), (NONE, NONE, ALL)


def program(code: str, *arguments: object) -> str:
    """Return how a program is asked for."""
    return f"program:{command(code, *arguments)}"


FIRST = program(POLITE)
WEAK = program(
    POLITE.replace("polite", "weak").replace("say(f", "words[1].count('O') > 3 and sys.exit(3); say(f")
)
"""It crashes when it sees four of them."""
RESIGNS = program(greets("for line in sys.stdin: line[0] == 'p' and say('resign')"))


def entered(*bots: str) -> tuple[Entrant, ...]:
    """Return those who take part."""
    return enter(bots, find_policy, PATIENT)


def lots(game: str) -> Random:
    """Return the luck of a game."""
    return Random(game)


def held(*bots: str, games: int = 2, jobs: int = 2) -> Tournament:
    """Hold a whole tournament."""
    tournament = Tournament(entered(*bots), games)
    with MatchRunner(
        plan_series(tournament.to_play, games), jobs, PATIENT, lots, tournament.record
    ) as tables:
        assert len([*tables]) == tournament.planned
    return tournament


def found(tournament: Tournament) -> dict[tuple[str, str], Meeting]:
    """Return how each fared against each."""
    return {(one.x, one.o): one for one in tournament.meetings}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Note every process that is started."""
    noted: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **settings: object) -> None:
            super().__init__(words, **settings)  # type: ignore[call-overload]  # handed on as they are
            noted.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return noted


# Who takes part


def test_policies_are_called_what_they_were_asked_for_by() -> None:
    """With or without the word that seats have; what was typed is kept."""
    bots = entered("random", "bot:perfect", "club:win=0")

    assert [bot.name for bot in bots] == ["random", "perfect", "club:win=0"]
    assert [bot.asked for bot in bots] == ["random", "bot:perfect", "club:win=0"]


def test_programs_are_called_what_they_call_themselves() -> None:
    """Two that say the same are numbered; what was typed is kept."""
    bots = entered(FIRST, "random", f"{FIRST} again", f"{FIRST} 'and again'")

    assert [bot.name for bot in bots] == [
        "program:polite",
        "random",
        "program:polite-2",
        "program:polite-3",
    ]
    assert bots[2].asked == f"{FIRST} again"
    assert f"program:{bots[0].command}" == FIRST


@pytest.mark.parametrize(
    ("bots", "sentence"),
    [
        (["random"], "a tournament needs at least two bots, not only 'random'"),
        (["random", "club", "random"], "'random' is named twice: a bot does not play itself"),
        (["bot:club", "club"], "'club' is named twice: a bot does not play itself"),
        (["program:./x", "program:./x"], "'program:./x' is named twice: a bot does not play itself"),
        (["random", "program:"], "program: needs a command, such as program:./mybot"),
        (["random", "program:'"], '"\'" is not a command: No closing quotation'),
        (["random", "program:/none/such"], "'/none/such' cannot be started: No such file or directory"),
        (["random", "program:false"], "'false' ended with exit code 1"),
        (
            ["random", "bot:bot:club"],
            "'bot:bot:club' has two prefixes: leave out the first bot:",
        ),
        (
            ["random", "bot:program:./x"],
            "'bot:program:./x' has two prefixes: leave out the first bot:",
        ),
        (["random", "club:luck=1"], "club has no 'luck': it has win, block, fork, defence and centre"),
    ],
)
def test_who_cannot_take_part_is_refused(bots: list[str], sentence: str) -> None:
    """In a sentence, before anything is played."""
    with pytest.raises(errors.NoughtsError) as refused:
        entered(*bots)
    assert str(refused.value) == sentence


def test_no_program_is_started_if_a_policy_is_refused(
    started: list[subprocess.Popen[bytes]],
) -> None:
    """What is known at once is said at once."""
    with pytest.raises(errors.UnknownPolicy):
        entered(FIRST, "nonesuch")
    assert started == []


def test_there_are_more_games_than_can_be_counted() -> None:
    """Nobody will wait for them."""
    with pytest.raises(NoTournament, match="at most 1,000,000,000 games in each seat"):
        Tournament(entered("random", "perfect"), 10**9 + 1)


# Exact odds


def test_policies_meet_in_both_seats_and_their_odds_are_exact() -> None:
    """No game is played."""
    names = "random", "novice", "perfect"
    tournament = Tournament(entered(*names), 7)
    policies = {name: CachedPolicy(find_policy(name)) for name in names}

    assert tournament.planned == 0
    assert [(one.x, one.o) for one in tournament.meetings] == [*permutations(names, 2)]
    for meeting in tournament.meetings:
        exact = odds(policies[meeting.x], policies[meeting.o])
        assert meeting.shares == (exact.x, exact.draw, exact.o)
        assert (meeting.games, meeting.is_exact) == (7, True)


def test_a_policy_that_fails_anywhere_fails_before_anything_is_played() -> None:
    """Also if it meets programs only, which may never lead it there."""

    def fragile(board: Board) -> Mapping[int, Fraction]:
        return random(board) if board.count < 8 else {board.cells.index(X): Fraction(1)}

    entrants = [Entrant("fragile", "fragile", CachedPolicy(fragile)), *entered(FIRST, "random")[:1]]
    with pytest.raises(errors.BadPolicy, match="not a free cell"):
        Tournament(entrants, 1)


# Scores


def test_a_score_is_over_both_seats() -> None:
    """A draw is half a win; against one, or against all; of nobody there is none."""
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


def test_each_seat_counts_for_half_however_many_games_it_has() -> None:
    """So that nobody gains by having had the first move more often, when it ends early."""
    met = [
        Meeting("a", "b", 9, (ALL, NONE, NONE), is_exact=False),
        Meeting("b", "a", 1, (ALL, NONE, NONE), is_exact=False),
    ]

    assert score("a", "b", met) == score("b", "a", met) == HALF
    assert score("a", None, met) == HALF


# Names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("club", "club"),
        ("a" * 10, "a" * 10),
        ("a" * 11, "a" * 9 + "…"),
        ("三目並べ:", "三目並べ:"),
        ("三目並べです", "三目並べ…"),
        ("e\u0301" * 10, "e\u0301" * 10),
        ("\x1b[2J", r"\x1b[2J"),
    ],
)
def test_a_name_takes_ten_columns_at_most(name: str, shown: str) -> None:
    """Some letters take two of them, and some none."""
    assert shorten(name, 10) == shown
    assert display_width(shown) <= 10


# The plan


@given(st.integers(1, 4 * SERIES_GAMES), st.integers(1, 6))
def test_every_game_is_planned_once(games: int, pairs: int) -> None:
    """In plan_series that are never too long, and all pairs get on evenly."""
    bot = Entrant("", "", None)
    planned = list(plan_series([(bot.replace(name=str(pair)), bot) for pair in range(pairs)], games))

    seen: dict[str, list[int]] = {str(pair): [] for pair in range(pairs)}
    for sitting in planned:
        assert len(sitting.numbers) <= SERIES_GAMES
        seen[sitting.x.name] += sitting.numbers
        lengths = {len(numbers) for numbers in seen.values()}
        assert max(lengths) - min(lengths) <= SERIES_GAMES
    assert all(numbers == [*range(games)] for numbers in seen.values())


# Games


def test_programs_play_in_both_seats_and_are_counted() -> None:
    """Two that take the first free cell play the same game each time, and X wins it."""
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


def test_the_number_of_tables_changes_nothing() -> None:
    """Not with programs that do the same each time, one that crashes at some point included."""
    alone, crowd = (held(WEAK, "random", games=SERIES_GAMES + 5, jobs=jobs) for jobs in (1, 6))

    assert alone.meetings == crowd.meetings
    assert alone.forfeits == crowd.forfeits != ()


def test_lots_are_drawn_anew_for_each_game() -> None:
    """Other luck leads to other games."""
    tournament = held(FIRST, "random", games=30)

    assert all(len([share for share in one.shares if share]) > 1 for one in tournament.meetings)


def test_to_resign_is_to_lose() -> None:
    """In either seat, and there is nothing to be told about it."""
    tournament = held(RESIGNS, "random")

    assert [one.shares for one in tournament.meetings] == [O_WINS, X_WINS]
    assert tournament.forfeits == ()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (plays("sys.exit(7)"), "hostile ended with exit code 7"),
        (plays("say('move 10')"), "hostile said 'move 10', but cells are 1 to 9"),
        (greets("hear(); say('hello'); hear()"), "hostile spoke without being asked: 'hello\\n'"),
    ],
    ids=["ends", "moves badly", "speaks unasked"],
)
def test_to_misbehave_is_to_lose_and_the_reason_is_kept(code: str, reason: str) -> None:
    """It is started again for the next game, which it loses again."""
    tournament = held(program(code), "random", games=3)

    assert [one.shares for one in tournament.meetings] == [O_WINS, X_WINS]
    (lost,) = tournament.forfeits
    assert (lost.name, lost.games) == ("program:hostile", 6)
    # what is said unasked may come before the next question or after it, where an answer belongs
    assert lost.first in (reason, "hostile said 'hello' instead of 'move 1' to 'move 9' or 'resign'")


def test_a_program_that_we_cannot_start_has_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files are open, say: the tournament ends, and nobody is blamed for it."""
    tournament = Tournament(entered(FIRST, "random"), 3)

    def full(*_: object, **__: object) -> None:
        raise OSError(EMFILE, "Too many open files")

    monkeypatch.setattr(subprocess, "Popen", full)
    with (
        pytest.raises(NoRoom, match=r"^no program can be started now: Too many open files$"),
        MatchRunner(plan_series(tournament.to_play, 3), 1, PATIENT, lots, tournament.record) as tables,
    ):
        list(tables)
    assert (tournament.played, tournament.forfeits) == (0, ())


@pytest.mark.parametrize(("files", "tables"), [(64, 1), (256, 16), (1024, 32), (RLIM_INFINITY, 32)])
def test_there_are_as_many_tables_as_files_may_be_open(
    files: int, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One at least, and no more than can be looked after."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (files, files))

    assert max_workers() == tables


def test_a_program_that_starts_no_more_loses(tmp_path: Path) -> None:
    """It could be started when it was entered, and so it takes part."""
    once = tmp_path / "once"
    tournament = held(program(f"os.mkdir(sys.argv[1])\n{POLITE}", once), "random", games=1)

    assert [one.shares for one in tournament.meetings] == [O_WINS, X_WINS]
    assert tournament.forfeits[0].games == 2
    assert 'complaining: "FileExistsError' in tournament.forfeits[0].first


def test_the_first_reason_is_that_of_the_first_game_of_the_plan() -> None:
    """Whichever ended first."""
    bots = (*entered("random", "perfect"), Entrant("weak", "program:weak", None))
    tournament = Tournament(bots, 9)
    for x, o, number in (("weak", "random", 0), ("random", "weak", 5), ("random", "weak", 2)):
        tournament.record(GameResult(x, o, number, X if o == "weak" else O, f"{x} {o} {number}"))
    tournament.record(GameResult("random", "weak", 1, None))

    assert tournament.forfeits == (Forfeits("weak", 3, "random weak 2"),)
    assert tournament.played == 4


# Leaving


def test_every_process_has_ended_in_the_end(started: list[subprocess.Popen[bytes]]) -> None:
    """One to hear the name, and one for each sitting."""
    held(FIRST, "random", games=2)

    assert [process.returncode for process in started] == [0, 0, 0]


def test_whoever_leaves_early_ends_all_processes(started: list[subprocess.Popen[bytes]]) -> None:
    """However long they would think; and what has been played is not lost, heard of or not."""
    waits = POLITE.replace("say(f", "words[1].count('X') and wait(); say(f")
    tournament = Tournament(entered(program(waits), FIRST, "random"), 50)
    recorded: list[GameResult] = []
    tables = MatchRunner(plan_series(tournament.to_play, 50), 6, PATIENT, lots, recorded.append)
    with suppress(KeyboardInterrupt), tables:
        for _ in tables:
            raise KeyboardInterrupt

    assert all(process.returncode is not None for process in started)
    assert 1 <= len(recorded) < 300


def test_what_goes_wrong_at_a_table_is_raised_where_games_are_heard_of(
    started: list[subprocess.Popen[bytes]],
) -> None:
    """And nothing is left of the other tables."""

    def broken(_: str) -> Random:
        raise errors.BadPolicy("no luck")

    tournament = Tournament(entered(FIRST, "random"), 50)
    with (
        pytest.raises(errors.BadPolicy, match="no luck"),
        MatchRunner(plan_series(tournament.to_play, 50), 2, PATIENT, broken, tournament.record) as tables,
    ):
        list(tables)
    assert all(process.returncode is not None for process in started)
