"""`noughts tournament`: its table to the letter, its data, and the report of an interrupted one."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import select
import shlex
import signal
import subprocess
from errno import EMFILE
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

from noughts.bots.odds import odds
from noughts.bots.registry import find_policy
from noughts.cli.commands.tournament import (
    COLUMNS,
    TournamentReport,
    hold_tournament,
    write_csv,
    write_json,
    write_table,
)
from noughts.cli.main import build_parser
from noughts.errors import (
    CannotStartProgram,
    FileUnavailable,
)
from noughts.lab.ratings import Rating
from noughts.lab.tournament import Entrant, Forfeits, Meeting
from support.command import environment
from support.deadlines import DEADLINE_SECONDS
from support.fake_console import RecordingBar
from support.hostile_bots import POLITE, command, program
from support.pseudo_terminal import CTRL_C, between_pipes, in_terminal

PAGE = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text()
FIRST = program(POLITE)
NONE, ALL = Fraction(0), Fraction(1)
X_WINS, O_WINS, NO_GAMES = (ALL, NONE, NONE), (NONE, NONE, ALL), (NONE, NONE, NONE)
LONG = "club:win=0,block=0,fork=0\x1b[2J"
WAITS = """
games = 0
for line in sys.stdin:
    words = line.split()
    if words[0] == "noughts":
        write("name thinker")
    if words[0] == "new":
        games += 1
        if games == 3:
            os.write(9, b"!")
            wait()
    if words[0] == "position":
        write(f"move {words[1].replace('/', '').index('_') + 1}")
    if words[0] == "bye":
        break
"""
"""It plays two games, and in the third it writes to a pipe and thinks forever."""


def run(*arguments: str, bars: list[RecordingBar] | None = None) -> str:
    """Hold a tournament in this process, and return the output."""
    line = ["tournament", *arguments]
    out = io.StringIO()

    def bar(total: int) -> RecordingBar:
        made = RecordingBar(total)
        if bars is not None:
            bars.append(made)
        return made

    hold_tournament(build_parser(line).parse_args(line), out, bar)
    return out.getvalue()


def report() -> TournamentReport:
    """Return the report of an interrupted tournament that has one of everything."""
    thirds = Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)
    entrants = [Entrant(name, name, None) for name in ("random", "perfect", LONG)]
    return TournamentReport(
        entrants=tuple(entrants),
        games=50,
        seed="s",
        planned=200,
        played=51,
        meetings=(
            Meeting("random", "perfect", 50, O_WINS, is_exact=True),
            Meeting("perfect", "random", 50, X_WINS, is_exact=True),
            Meeting(LONG, "random", 48, thirds, is_exact=False),
            Meeting("random", LONG, 3, X_WINS, is_exact=False),
            Meeting("perfect", LONG, 0, NO_GAMES, is_exact=False),
            Meeting(LONG, "perfect", 0, NO_GAMES, is_exact=False),
        ),
        ratings=(
            Rating("perfect", 512.4, 400.2, 600.0),
            Rating(LONG, -0.4, -20.0, 20.0),
            Rating("random", -512.0, -600.4, -400.0),
        ),
        forfeits=(Forfeits("random", 1, "was late"), Forfeits(LONG, 1234, "answered \x1b")),
    )


# The table


def test_a_table_to_the_letter() -> None:
    """Best first; ~ for games, nothing for exact odds, ? for pairs that have not played; then notes."""
    out = io.StringIO()
    write_table(report(), out)

    assert out.getvalue() == (
        "#  bot                   rating        95 %  score  1     2     3\n"
        "1  perfect                  512    400..600    100  -     ?   100\n"
        "2  club:win=0,block=0,…       0     -20..20   25.0  ?     - ~25.0\n"
        "3  random                  -512  -600..-400   25.3  0 ~75.0     -\n"
        "\n"
        r"2 is club:win=0,block=0,fork=0\x1b[2J."
        "\n"
        "Interrupted: only 51 of 200 games were played.\n"
        "Scores are in percent, over both seats; those with ~ are from games.\n"
        "random forfeited a game: was late.\n"
        r"club:win=0,block=0,fork=0\x1b[2J forfeited 1,234 games, the first one: answered \x1b."
        "\n"
    )


def test_a_bot_that_has_not_played_has_no_interval() -> None:
    entrants = tuple(Entrant(name, name, None) for name in ("random", "perfect"))
    met = Meeting("random", "perfect", 0, NO_GAMES, is_exact=False)
    ratings = tuple(Rating(bot.name, 0.0, None, None) for bot in entrants)
    unmet = report().replace(entrants=entrants, meetings=(met,), ratings=ratings)

    table, data = io.StringIO(), io.StringIO()
    write_table(unmet, table)
    write_json(unmet, data)

    assert table.getvalue().splitlines()[1].split() == ["1", "random", "0", "?", "?", "-", "?"]
    assert [(bot["low"], bot["high"]) for bot in json.loads(data.getvalue())["bots"]] == [
        (None, None)
    ] * 2


def test_pairs_that_met_in_one_seat_only_are_noted() -> None:
    out = io.StringIO()
    meetings = report().meetings
    met = (*meetings[:3], meetings[3].replace(games=0), *meetings[4:])
    write_table(report().replace(meetings=met), out)

    note = "Some pairs have met in one seat only, so the first move counts in their scores.\n"
    assert note in out.getvalue()


def test_wide_letters_leave_the_columns_straight() -> None:
    """Each takes two columns."""
    ratings = tuple(Rating(name, 0.0, -1.0, 1.0) for name in ("三目並べ", "perfect"))
    out = io.StringIO()
    write_table(report().replace(ratings=ratings), out)

    lines = out.getvalue().splitlines()[:3]
    assert len({sum(2 if sign in "三目並べ" else 1 for sign in line) for line in lines}) == 1


def test_six_bots_have_room_in_eighty_columns() -> None:
    for count in (6, 12):
        names = [f"newell-sim{number:02}" for number in range(count)]
        shares = Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)
        met = tuple(Meeting(*pair, 10, shares, is_exact=False) for pair in permutations(names, 2))
        ratings = tuple(Rating(name, -409.0, -439.0, -382.0) for name in names)
        out = io.StringIO()
        write_table(report().replace(meetings=met, ratings=ratings), out)

        lines = out.getvalue().split("\n\n")[0].splitlines()
        assert len({len(line) for line in lines}) == 1
        assert count > 6 or len(lines[0]) <= 80
        assert [line.split()[0] for line in lines] == ["#", *map(str, range(1, count + 1))]


# Data


def test_csv_has_a_row_for_each_pair_and_seat() -> None:
    out = io.StringIO()
    write_csv(report(), out)
    lines = out.getvalue().splitlines()

    assert lines[0] == ",".join(COLUMNS) == "x,o,games,x_wins,draw,o_wins,exact"
    assert lines[1] == "random,perfect,50,0,0,1,true"
    assert [*csv.reader(lines)][3] == [LONG, "random", "48", "1/3", "1/3", "1/3", "false"]


def test_data_is_complete() -> None:
    out = io.StringIO()
    write_json(report(), out)
    data = json.loads(out.getvalue())

    bots, meetings = data.pop("bots"), data.pop("meetings")
    assert data == {
        "games": 50,
        "seed": "s",
        "planned": 200,
        "played": 51,
        "forfeits": [
            {"name": "random", "games": 1, "first": "was late"},
            {"name": LONG, "games": 1234, "first": "answered \x1b"},
        ],
    }
    assert bots[1] == {
        "name": "perfect",
        "asked": "perfect",
        "rank": 1,
        "rating": 512.4,
        "low": 400.2,
        "high": 600.0,
        "score": "1",
        "about": {"score": 1.0},
    }
    assert [bot["rank"] for bot in bots] == [3, 1, 2]
    assert meetings[2] == {
        "x": LONG,
        "o": "random",
        "games": 48,
        "exact": False,
        "x_wins": "1/3",
        "draw": "1/3",
        "o_wins": "1/3",
        "about": {"x_wins": 1 / 3, "draw": 1 / 3, "o_wins": 1 / 3},
        "counts": {"x_wins": 16, "draw": 16, "o_wins": 16},
    }
    assert meetings[0]["counts"] is None


def test_exact_data_are_those_of_the_library() -> None:
    rows = [*csv.DictReader(run("random", "perfect", "--csv", "--games", "7").splitlines())]

    for row in rows:
        exact = odds(find_policy(row["x"]), find_policy(row["o"]))
        shares = [Fraction(row[column]) for column in ("x_wins", "draw", "o_wins")]
        assert shares == [exact.x, exact.draw, exact.o]
        assert (row["games"], row["exact"]) == ("7", "true")


# Games


def test_the_same_seed_plays_the_same() -> None:
    """Whatever the number of jobs."""
    asked = "random", FIRST, "--games", "30", "--json", "--seed"

    first, again, other = (
        run(*asked, seed, "--jobs", jobs) for seed, jobs in (("a", "1"), ("a", "4"), ("b", "4"))
    )

    assert first == again
    assert json.loads(first)["meetings"] != json.loads(other)["meetings"]


def test_without_a_seed_one_is_chosen_and_shown() -> None:
    asked = "random", FIRST, "--games", "5", "--json"
    first = run(*asked)

    assert run(*asked, "--seed", json.loads(first)["seed"]) == first
    assert run(*asked) != first


@pytest.mark.parametrize(
    ("bots", "games", "shown"),
    [
        (["random", "club", FIRST], 1, [(2, [1, 2]), (4, [*range(5)])]),
        (["random", FIRST], 3, [(6, [*range(7)])]),
    ],
    ids=["both", "games"],
)
def test_bars_show_exact_odds_and_games(
    bots: list[str], games: int, shown: list[tuple[int, list[int]]]
) -> None:
    bars: list[RecordingBar] = []
    run(*bots, "--games", str(games), bars=bars)

    assert [(bar.total, bar.shown) for bar in bars] == shown
    assert all(bar.is_clear for bar in bars)


# The plot


def test_a_plot_is_drawn_beside_the_table(tmp_path: Path) -> None:
    file = tmp_path / "ratings.svg"

    assert run("random", "perfect", "--plot", str(file)) == run("random", "perfect")
    assert all(f">{name}<" in file.read_text() for name in ("random", "perfect"))


def test_the_table_is_printed_before_the_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a plot that fails does not lose it."""
    line = ["tournament", "random", "perfect", "--plot", str(tmp_path / "plot.svg")]
    out = io.StringIO()

    def fails(*_: object) -> None:
        assert "all are exact" in out.getvalue()
        raise FileUnavailable("no disk")

    monkeypatch.setattr("noughts.lab.plots.plot_ratings", fails)
    with pytest.raises(FileUnavailable, match="no disk"):
        hold_tournament(build_parser(line).parse_args(line), out, RecordingBar)


# When no program can be started


def test_results_are_printed_if_no_more_programs_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not a forfeit, and the error comes after the table."""
    line = ["tournament", "random", FIRST, "--games", "30", "--jobs", "1", "--seed", "a"]
    out, popen, started = io.StringIO(), subprocess.Popen, 0

    def full(*words: object, **settings: object) -> object:
        nonlocal started
        started += 1
        if started > 2:  # one for the name, one for the first sitting
            raise OSError(EMFILE, "Too many open files")
        return popen(*words, **settings)  # type: ignore[call-overload]  # handed on as they are

    monkeypatch.setattr(subprocess, "Popen", full)
    with pytest.raises(CannotStartProgram, match="no program can be started now: Too many open files"):
        hold_tournament(build_parser(line).parse_args(line), out, RecordingBar)

    assert "Interrupted: only 25 of 60 games were played.\n" in out.getvalue()
    assert "Some pairs have met in one seat only" in out.getvalue()
    assert "forfeited" not in out.getvalue()


# Ctrl-C


class Thinkers:
    """Programs that think forever after two games, and hold a pipe open while they run."""

    def __init__(self, pipe: Path) -> None:
        os.mkfifo(pipe)
        self._reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._writing = os.open(pipe, os.O_WRONLY)  # it stays open until are_gone
        line = shlex.join(["sh", "-c", f'exec 9>"$0"; exec {command(WAITS)}', str(pipe)])
        self.asked = f"program:{line}"

    def wait_for(self, count: int) -> None:
        """Wait until this many are thinking."""
        while count:
            assert select.select([self._reading], [], [], DEADLINE_SECONDS)[0]
            count -= len(os.read(self._reading, count))

    def are_gone(self) -> bool:
        """Wait until no program has the pipe open."""
        os.close(self._writing)
        hung_up = select.poll()
        hung_up.register(self._reading, 0)
        gone = bool(hung_up.poll(1000 * DEADLINE_SECONDS))
        os.close(self._reading)
        return gone


@pytest.fixture
def thinkers(tmp_path: Path) -> Thinkers:
    return Thinkers(tmp_path / "alive")


def test_ctrl_c_prints_the_results_and_ends_all_programs(thinkers: Thinkers) -> None:
    asked = "tournament", "perfect", thinkers.asked, "--games", "50", "--jobs", "2", "--patience", "600"
    with in_terminal(*asked, env=environment()) as session:
        session.expect("] 4 %")
        thinkers.wait_for(2)
        session.type(CTRL_C)
        session.expect("1  perfect ")
        session.expect("Interrupted: only 4 of 100 games were played.")
        session.expect("Goodbye!")
        assert session.end() == 130
    assert b"Traceback" not in session.output
    assert thinkers.are_gone()


def test_interrupted_data_is_complete(thinkers: Thinkers) -> None:
    """No goodbye is mixed into it."""
    asked = "tournament", "perfect", thinkers.asked, "--games", "50", "--jobs", "2", "--json"
    with between_pipes(*asked, "--patience", "600") as session:
        thinkers.wait_for(2)
        for _ in range(20):  # an impatient second one changes nothing
            session.send(signal.SIGINT)
        assert session.end() == 130
    assert thinkers.are_gone()
    assert json.loads(session.output)["played"] == 4


def test_sigterm_ends_all_programs_silently(thinkers: Thinkers) -> None:
    asked = "tournament", "perfect", thinkers.asked, "--jobs", "2", "--patience", "600"
    with between_pipes(*asked) as session:
        thinkers.wait_for(2)
        session.send(signal.SIGTERM)
        assert session.end() == 143
    assert thinkers.are_gone()
    assert session.output == b""


# The page


def test_the_page_shows_the_real_output() -> None:
    (session,) = re.findall(r"```console\n\$ noughts tournament (.*?)```", PAGE, re.DOTALL)
    arguments, _, output = session.partition("\n")

    assert run(*arguments.split()) == output


def test_the_page_names_every_column_and_field() -> None:
    out = io.StringIO()
    write_json(report(), out)
    data = json.loads(out.getvalue())

    names = {*COLUMNS, *data, *data["bots"][0], *data["meetings"][0], *data["forfeits"][0]}
    assert {name for name in names if f"`{name}`" not in PAGE} == set()


def test_the_code_on_the_page_draws_learning_curves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)

    exec(code, {})  # noqa: S102 - our own page

    assert ">taught by perfect<" in (tmp_path / "curves.svg").read_text()
