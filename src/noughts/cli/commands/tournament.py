"""Report a tournament, as a table, as CSV or as JSON."""

from __future__ import annotations

import csv
import json
import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Protocol, TextIO

import numpy as np

from noughts.bots.odds import percent
from noughts.bots.policy import Policy
from noughts.bots.program import ANSWER_TIMEOUT_SECONDS, CannotStartProgram
from noughts.core.errors import NotInstalled, printable, quoted
from noughts.core.value import Value
from noughts.lab.match_runner import MatchRunner, plan_series
from noughts.lab.ratings import Rating, rate_all
from noughts.lab.tournament import (
    Entrant,
    Forfeits,
    Meeting,
    Tournament,
    display_width,
    enter,
    score,
    shorten,
)


class Progress(Protocol):
    """A progress bar."""

    def show(self, done: int) -> None: ...

    def clear(self) -> None: ...


COLUMNS = "x", "o", "games", "x_wins", "draw", "o_wins", "exact"
MAX_NAME_COLUMNS = 20
"""In the table; longer names are printed in full below it."""


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

    @property
    def is_whole(self) -> bool:
        """Whether all planned games were played."""
        return self.played == self.planned


def tell_tournament(
    options: Namespace, asked_policy: Callable[[str], Policy], out: TextIO, bar: Callable[[int], Progress]
) -> None:
    """Hold a tournament and print its results, even if it is interrupted.

    They are printed before the plot is drawn, so that a failing plot does not lose them.
    """
    draw = None if options.plot is None else _plotter(options.plot)
    timeout_seconds = ANSWER_TIMEOUT_SECONDS if options.patience is None else options.patience
    tournament = _start(enter(options.bots, asked_policy, timeout_seconds), options.games, bar)
    seed = options.seed
    if seed is None:  # without games, the same command prints the same
        seed = os.urandom(8).hex() if tournament.planned else ""
    try:
        if tournament.planned:
            _play(tournament, seed, options.jobs or _cores(), timeout_seconds, bar)
    except (KeyboardInterrupt, CannotStartProgram):
        _write(report(tournament, seed), options, out)
        raise
    results = report(tournament, seed)
    _write(results, options, out)
    if draw:
        draw(results.ratings)


def report(tournament: Tournament, seed: str) -> TournamentReport:
    """Return the results so far."""
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


def write_table(results: TournamentReport, out: TextIO) -> None:
    """Write a row for each bot, the best first, with a column for each opponent."""
    names = [one.name for one in results.ratings]
    rows = [["#", "bot", "rating", "95 %", "score", *map(str, range(1, len(names) + 1))]]
    for rank, one in enumerate(results.ratings, 1):
        cells = [_cell(one.name, other, results.meetings) for other in names]
        mean = _short(score(one.name, None, results.meetings))
        shown = shorten(one.name, MAX_NAME_COLUMNS)
        rows.append([str(rank), shown, str(round(one.rating)), _interval(one), mean, *cells])
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    widths[5:] = [max(widths[5:])] * len(names)
    for row in rows:
        head = [f"{row[0]:>{widths[0]}}", row[1] + " " * (widths[1] - display_width(row[1]))]
        rest = [f"{text:>{width}}" for text, width in zip(row[2:], widths[2:], strict=True)]
        out.write(f"{'  '.join(head + rest[:3])}  {' '.join(rest[3:])}\n")
    out.write("\n")
    out.writelines(f"{note}\n" for note in _notes(results))


def write_csv(results: TournamentReport, out: TextIO) -> None:
    """Write a row for each pair and seat, with exact fractions."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in results.meetings:
        writer.writerow((one.x, one.o, one.games, *one.shares, "true" if one.is_exact else "false"))


def write_json(results: TournamentReport, out: TextIO) -> None:
    """Write one object on one line."""
    ranked = {one.name: (rank, one) for rank, one in enumerate(results.ratings, 1)}
    data = {
        "games": results.games,
        "seed": results.seed,
        "planned": results.planned,
        "played": results.played,
        "bots": [_bot_as_json(bot, *ranked[bot.name], results.meetings) for bot in results.entrants],
        "meetings": [_meeting_as_json(one) for one in results.meetings],
        "forfeits": [
            {"name": one.name, "games": one.games, "first": one.first} for one in results.forfeits
        ],
    }
    out.write(f"{json.dumps(data)}\n")


def _plotter(file: str) -> Callable[[Sequence[Rating]], None]:
    """Return a function that plots the ratings, after checking that the file can be written."""
    try:
        from noughts.lab.plots import check_plot, plot_ratings  # noqa: PLC0415 - slow, and rarely needed
    except ImportError as error:
        raise NotInstalled(
            f"--plot needs {quoted(error.name)}, which is not installed: pip install 'noughts[lab]'"
        ) from error
    check_plot(file)
    return lambda ratings: plot_ratings(ratings, file)


def _start(entrants: Sequence[Entrant], games: int, bar: Callable[[int], Progress]) -> Tournament:
    """Compute all exact odds, with a progress bar."""
    policies = sum(entrant.policy is not None for entrant in entrants)
    if policies < 2:
        return Tournament(entrants, games)
    progress = bar(policies * (policies - 1))
    try:
        return Tournament(entrants, games, progress.show)
    finally:
        progress.clear()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _play(
    tournament: Tournament, seed: str, jobs: int, timeout_seconds: float, bar: Callable[[int], Progress]
) -> None:
    """Play all games, with a progress bar."""
    progress = bar(tournament.planned)
    planned = plan_series(tournament.to_play, tournament.games)

    def rng_for(game: str) -> Random:
        return Random(os.fsencode(f"{seed}\0{game}"))  # noqa: S311 - not for secrets

    try:
        progress.show(0)
        with MatchRunner(planned, jobs, timeout_seconds, rng_for, tournament.record) as games:
            for done, _ in enumerate(games, 1):
                progress.show(done)
    finally:
        progress.clear()


def _write(results: TournamentReport, options: Namespace, out: TextIO) -> None:
    if options.json:
        write_json(results, out)
    elif options.csv:
        write_csv(results, out)
    else:
        write_table(results, out)
    out.flush()


def _interval(rating: Rating) -> str:
    if rating.low is None or rating.high is None:
        return "?"
    return f"{round(rating.low)}..{round(rating.high)}"


def _cell(name: str, other: str, meetings: Sequence[Meeting]) -> str:
    """Return a bot's score against another over both seats, marked with ~ if it is from games."""
    if name == other:
        return "-"
    is_exact = all(one.is_exact for one in meetings if {one.x, one.o} == {name, other})
    found = score(name, other, meetings)
    return f"{'' if is_exact or found is None else '~'}{_short(found)}"


def _short(share: Fraction | None) -> str:
    return "?" if share is None else percent(share).removesuffix(" %")


def _notes(results: TournamentReport) -> list[str]:
    """Return the notes below the table, a sentence a line."""
    notes = [
        f"{rank} is {printable(one.name)}."
        for rank, one in enumerate(results.ratings, 1)
        if shorten(one.name, MAX_NAME_COLUMNS) != printable(one.name)
    ]
    if not results.is_whole:
        notes.append(
            f"Only {results.played:,} of {results.planned:,} games were played: it was interrupted."
        )
    source = "those with ~ are from games" if results.planned else "all are exact"
    notes.append(f"Scores are in percent, over both seats; {source}.")
    played = {(one.x, one.o) for one in results.meetings if one.games}
    if any((o, x) not in played for x, o in played):
        notes.append("Some pairs have played in one seat only: there the first move affects the score.")
    for one in results.forfeits:
        times = "a game" if one.games == 1 else f"{one.games:,} games, the first one"
        notes.append(f"{printable(one.name)} forfeited {times}: {printable(one.first)}.")
    return notes


def _bot_as_json(
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


def _meeting_as_json(meeting: Meeting) -> dict[str, object]:
    """Return exact shares as text and as numbers, and the counted games."""
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
