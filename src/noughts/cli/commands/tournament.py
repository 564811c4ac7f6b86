"""`noughts tournament`: bots and programs against each other, and their ratings."""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import TextIO

import numpy as np

from noughts.bots.errors import CannotStartProgram
from noughts.bots.odds import percent
from noughts.bots.program import ANSWER_TIMEOUT_SECONDS
from noughts.cli import layout, options as shared
from noughts.cli.console import Console
from noughts.cli.extras import needs_extra
from noughts.cli.opponents import load_bot
from noughts.cli.progress import ProgressBar
from noughts.core.errors import printable
from noughts.core.value import Value
from noughts.lab.match_runner import MatchRunner, plan_series
from noughts.lab.ratings import Rating, rate_all
from noughts.lab.simulation import available_cores
from noughts.lab.tournament import Entrant, Forfeits, Meeting, Tournament, enter, score
from noughts.text.columns import shorten

COLUMNS = "x", "o", "games", "x_wins", "draw", "o_wins", "exact"
MAX_NAME_COLUMNS = 20
"""A name that is longer is cut in the table, and written in full below it."""


HELP = shared.CommandHelp(
    "Rate bots and programs by each against each. Between two bots, exact odds take the place of games.",
    {
        "noughts tournament novice club perfect": "three bots, exactly",
        "noughts tournament club 'program:python3 bot.py' --games 20": "a bot against a program of yours",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument(
        "bots", metavar="BOT", nargs="+", help="two or more policies, saved:file=PATH or program:COMMAND"
    )
    parser.add_argument(
        "--games",
        type=shared.count,
        default=100,
        metavar="N",
        help="games per pair and seat; the weight of an exact pairing (default: 100)",
    )
    shared.add_seed(parser, "gives the same random numbers")
    shared.add_jobs(parser)
    shared.add_patience(parser)
    shared.add_plot(parser, "the ratings")
    shared.add_data_formats(parser)


def run(options: Namespace, console: Console) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt_once)
    sys.set_int_max_str_digits(0)  # exact fractions can be long
    hold_tournament(options, console.out, lambda total: ProgressBar(total, console.err))


def _interrupt_once(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not stop the report
    raise KeyboardInterrupt


class TournamentReport(Value):
    """The results of a tournament."""

    entrants: tuple[Entrant, ...]
    games: int
    """In each seat."""
    seed: str
    planned: int
    played: int
    meetings: tuple[Meeting, ...]
    ratings: tuple[Rating, ...]
    """The best first."""
    forfeits: tuple[Forfeits, ...]


def hold_tournament(options: Namespace, out: TextIO, bar: Callable[[int], ProgressBar]) -> None:
    """Play a tournament and report it; if it is interrupted, report what there is.

    The report is written before the plot, which may fail.
    """
    plot = None if options.plot is None else _plotter(options.plot)
    patience = ANSWER_TIMEOUT_SECONDS if options.patience is None else options.patience
    tournament = _compute_odds(enter(options.bots, load_bot, patience), options.games, bar)
    seed = options.seed
    if seed is None:  # without games nothing is random
        seed = os.urandom(8).hex() if tournament.planned else ""
    try:
        if tournament.planned:
            _play(tournament, seed, options.jobs or available_cores(), patience, bar)
    except (KeyboardInterrupt, CannotStartProgram):
        _write(report(tournament, seed), options, out)
        raise
    found = report(tournament, seed)
    _write(found, options, out)
    if plot:
        plot(found.ratings)


def report(tournament: Tournament, seed: str) -> TournamentReport:
    """Sum up a tournament, as far as it was played."""
    rng = np.random.default_rng([*os.fsencode(seed)])
    return TournamentReport(
        tournament.entrants,
        tournament.games,
        seed,
        tournament.planned,
        tournament.played,
        meetings := tournament.meetings,
        rate_all(tournament.names, meetings, rng),
        tournament.forfeits,
    )


def write_table(found: TournamentReport, out: TextIO) -> None:
    """Write a row for each bot, the best first, with a column for each opponent."""
    names = [one.name for one in found.ratings]
    rows = [["#", "bot", "rating", "95 %", "score", *map(str, range(1, len(names) + 1))]]
    for rank, one in enumerate(found.ratings, 1):
        cells = [_cell(one.name, other, found.meetings) for other in names]
        mean = _short(score(one.name, None, found.meetings))
        interval = "?" if one.low is None or one.high is None else f"{round(one.low)}..{round(one.high)}"
        shown = shorten(one.name, MAX_NAME_COLUMNS)
        rows.append([str(rank), shown, str(round(one.rating)), interval, mean, *cells])
    layout.write_table(rows, out, left=2, repeated=2, close=len(names) - 1)
    out.write("\n")
    for note in _notes(found):
        layout.say(note, out)


def write_csv(found: TournamentReport, out: TextIO) -> None:
    """Write a row for each pair and each seat: shares of games, as exact fractions."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in found.meetings:
        writer.writerow((one.x, one.o, one.games, *one.shares, "true" if one.is_exact else "false"))


def write_json(found: TournamentReport, out: TextIO) -> None:
    """Write everything, as one object on one line."""
    ranked = {one.name: (rank, one) for rank, one in enumerate(found.ratings, 1)}
    data = {
        "games": found.games,
        "seed": found.seed,
        "planned": found.planned,
        "played": found.played,
        "bots": [_bot_to_dict(bot, *ranked[bot.name], found.meetings) for bot in found.entrants],
        "meetings": [_meeting_to_dict(one) for one in found.meetings],
        "forfeits": [
            {"name": one.name, "games": one.games, "first": one.first} for one in found.forfeits
        ],
    }
    out.write(f"{json.dumps(data)}\n")


def _plotter(file: str) -> Callable[[Sequence[Rating]], None]:
    """Return what plots the ratings into a file, if that is possible."""
    with needs_extra("lab"):
        from noughts.lab.plots import check_plot, plot_ratings  # noqa: PLC0415 - slow, and rarely needed
    check_plot(file)
    return lambda ratings: plot_ratings(ratings, file)


def _compute_odds(
    entrants: Sequence[Entrant], games: int, bar: Callable[[int], ProgressBar]
) -> Tournament:
    policies = sum(entrant.policy is not None for entrant in entrants)
    if policies < 2:
        return Tournament(entrants, games)
    with bar(policies * (policies - 1)) as progress:
        return Tournament(entrants, games, progress.show)


def _play(
    tournament: Tournament, seed: str, jobs: int, patience: float, bar: Callable[[int], ProgressBar]
) -> None:
    planned = plan_series(tournament.to_play, tournament.games)

    def rng(game: str) -> Random:
        return Random(os.fsencode(f"{seed}\0{game}"))  # noqa: S311 - games, not secrets

    with bar(tournament.planned) as progress:
        progress.show(0)
        with MatchRunner(planned, jobs, patience, rng, tournament.record) as runner:
            for done, _ in enumerate(runner, 1):
                progress.show(done)


def _write(found: TournamentReport, options: Namespace, out: TextIO) -> None:
    if options.json:
        write_json(found, out)
    elif options.csv:
        write_csv(found, out)
    else:
        write_table(found, out)
    out.flush()


def _cell(name: str, other: str, meetings: Sequence[Meeting]) -> str:
    """Return what a bot scored against another over both seats, with ~ if that is from games."""
    if name == other:
        return "-"
    is_exact = all(one.is_exact for one in meetings if {one.x, one.o} == {name, other})
    found = score(name, other, meetings)
    return f"{'' if is_exact or found is None else '~'}{_short(found)}"


def _short(share: Fraction | None) -> str:
    return "?" if share is None else percent(share).removesuffix(" %")


def _notes(found: TournamentReport) -> list[str]:
    notes = [
        f"{rank} is {printable(one.name)}."
        for rank, one in enumerate(found.ratings, 1)
        if shorten(one.name, MAX_NAME_COLUMNS) != printable(one.name)
    ]
    if found.played < found.planned:
        notes.append(f"Interrupted: only {found.played:,} of {found.planned:,} games were played.")
    source = "those with ~ are from games" if found.planned else "all are exact"
    notes.append(f"Scores are in percent, over both seats; {source}.")
    begun = {(one.x, one.o) for one in found.meetings if one.games}
    if any((o, x) not in begun for x, o in begun):
        notes.append("Some pairs have met in one seat only, so the first move counts in their scores.")
    for one in found.forfeits:
        times = "a game" if one.games == 1 else f"{one.games:,} games, the first one"
        notes.append(f"{printable(one.name)} forfeited {times}: {printable(one.first)}.")
    return notes


def _bot_to_dict(
    bot: Entrant, rank: int, rating: Rating, meetings: Sequence[Meeting]
) -> dict[str, object]:
    mean = score(bot.name, None, meetings)
    return {
        "name": bot.name,
        "asked": bot.asked,
        "rank": rank,
        "rating": rating.rating,
        "low": rating.low,
        "high": rating.high,
        "score": None if mean is None else str(mean),
        "about": {"score": None if mean is None else float(mean)},
    }


def _meeting_to_dict(meeting: Meeting) -> dict[str, object]:
    """Return a meeting as data: exact shares as text and as floats, and the counts of games."""
    ends = dict(zip(COLUMNS[3:6], meeting.shares, strict=True))
    counts = {name: int(share * meeting.games) for name, share in ends.items()}
    return {
        "x": meeting.x,
        "o": meeting.o,
        "games": meeting.games,
        "exact": meeting.is_exact,
        **{name: str(share) for name, share in ends.items()},
        "about": {name: float(share) for name, share in ends.items()},
        "counts": None if meeting.is_exact else counts,
    }
