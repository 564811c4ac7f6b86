"""A tournament told: a table of who scored what against whom, to read, for a spreadsheet or as data."""

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
from noughts.lab.match_runner import Tables, sittings
from noughts.lab.ratings import Rating, rate_all
from noughts.lab.tournament import Entrant, Forfeits, Meeting, Tournament, cut, enter, score, wide


class Progress(Protocol):
    """A bar that shows how far it has come."""

    def show(self, done: int) -> None:
        """Show that so much is done."""

    def clear(self) -> None:
        """Leave nothing of it."""


COLUMNS = "x", "o", "games", "x_wins", "draw", "o_wins", "exact"
LONGEST_NAME = 20
"""In the table; what is longer is told in full below it."""


class Report(Value):
    """All that there is to tell."""

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
        """Whether all games were played that were to be."""
        return self.played == self.planned


def tell_tournament(
    options: Namespace,
    asked_policy: Callable[[str], Policy],
    out: TextIO,
    bar: Callable[[int], Progress],
) -> None:
    """Hold a tournament and tell how it went; if it is interrupted, how it went until then.

    The table is told before anything is drawn: what goes wrong with a picture takes nothing away from it.
    """
    draw = None if options.plot is None else _drawing(options.plot)
    patience = ANSWER_TIMEOUT_SECONDS if options.patience is None else options.patience
    tournament = _begun(enter(options.bots, asked_policy, patience), options.games, bar)
    seed = options.seed
    if seed is None:  # where no game is played, the same command tells the same
        seed = os.urandom(8).hex() if tournament.planned else ""
    try:
        if tournament.planned:
            _play(tournament, seed, options.jobs or _cores(), patience, bar)
    except (KeyboardInterrupt, CannotStartProgram):
        _tell(report(tournament, seed), options, out)
        raise
    told = report(tournament, seed)
    _tell(told, options, out)
    if draw:
        draw(told.ratings)


def report(tournament: Tournament, seed: str) -> Report:
    """Sum a tournament up, as far as it has come."""
    rng = np.random.default_rng([*os.fsencode(seed)])
    return Report(
        tournament.entrants,
        tournament.games,
        seed,
        tournament.planned,
        tournament.done,
        meetings := tournament.meetings,
        rate_all(tournament.names, meetings, rng),
        tournament.forfeits,
    )


def write_table(told: Report, out: TextIO) -> None:
    """Write a row for each bot, the best first, with a column for each opponent."""
    names = [one.name for one in told.ratings]
    rows = [["#", "bot", "rating", "95 %", "score", *map(str, range(1, len(names) + 1))]]
    for rank, one in enumerate(told.ratings, 1):
        cells = [_cell(one.name, other, told.meetings) for other in names]
        mean = _short(score(one.name, None, told.meetings))
        shown = cut(one.name, LONGEST_NAME)
        rows.append([str(rank), shown, str(round(one.rating)), _interval(one), mean, *cells])
    widths = [max(map(wide, column)) for column in zip(*rows, strict=True)]
    widths[5:] = [max(widths[5:])] * len(names)
    for row in rows:
        head = [f"{row[0]:>{widths[0]}}", row[1] + " " * (widths[1] - wide(row[1]))]
        rest = [f"{text:>{width}}" for text, width in zip(row[2:], widths[2:], strict=True)]
        out.write(f"{'  '.join(head + rest[:3])}  {' '.join(rest[3:])}\n")
    out.write("\n")
    out.writelines(f"{note}\n" for note in _notes(told))


def write_csv(told: Report, out: TextIO) -> None:
    """Write a row for each pair and each seat: shares of games, as exact fractions."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in told.meetings:
        writer.writerow((one.x, one.o, one.games, *one.shares, "true" if one.is_exact else "false"))


def write_json(told: Report, out: TextIO) -> None:
    """Write all there is to know, as one object on one line."""
    ranked = {one.name: (rank, one) for rank, one in enumerate(told.ratings, 1)}
    plain = {
        "games": told.games,
        "seed": told.seed,
        "planned": told.planned,
        "played": told.played,
        "bots": [_plain_bot(bot, *ranked[bot.name], told.meetings) for bot in told.entrants],
        "meetings": [_plain_meeting(one) for one in told.meetings],
        "forfeits": [{"name": one.name, "games": one.games, "first": one.first} for one in told.forfeits],
    }
    out.write(f"{json.dumps(plain)}\n")


def _drawing(file: str) -> Callable[[Sequence[Rating]], None]:
    """Return what draws the ratings into a file, if it can be drawn at all."""
    try:
        from noughts.lab.plots import check_plot, plot_ratings  # noqa: PLC0415 - slow, and seldom needed
    except ImportError as error:
        raise NotInstalled(
            f"--plot needs {quoted(error.name)}, which is not installed: pip install 'noughts[lab]'"
        ) from error
    check_plot(file)
    return lambda ratings: plot_ratings(ratings, file)


def _begun(entrants: Sequence[Entrant], games: int, bar: Callable[[int], Progress]) -> Tournament:
    """Reckon all exact odds, and show how far that has come."""
    policies = sum(entrant.policy is not None for entrant in entrants)
    if policies < 2:
        return Tournament(entrants, games)
    progress = bar(policies * (policies - 1))
    try:
        return Tournament(entrants, games, progress.show)
    finally:
        progress.clear()


def _cores() -> int:
    """Return how many processors we may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _play(
    tournament: Tournament, seed: str, jobs: int, patience: float, bar: Callable[[int], Progress]
) -> None:
    """Play all games there are to play, and show how far that has come."""
    progress = bar(tournament.planned)
    planned = sittings(tournament.to_play, tournament.games)

    def lots(game: str) -> Random:
        return Random(os.fsencode(f"{seed}\0{game}"))  # noqa: S311 - a game, no secret

    try:
        progress.show(0)
        with Tables(planned, jobs, patience, lots, tournament.record) as tables:
            for done, _ in enumerate(tables, 1):
                progress.show(done)
    finally:
        progress.clear()


def _tell(told: Report, options: Namespace, out: TextIO) -> None:
    if options.json:
        write_json(told, out)
    elif options.csv:
        write_csv(told, out)
    else:
        write_table(told, out)
    out.flush()


def _interval(rating: Rating) -> str:
    if rating.low is None or rating.high is None:
        return "?"
    return f"{round(rating.low)}..{round(rating.high)}"


def _cell(name: str, other: str, meetings: Sequence[Meeting]) -> str:
    """Return what a bot scored against another over both seats; what comes from games is marked."""
    if name == other:
        return "-"
    is_exact = all(one.is_exact for one in meetings if {one.x, one.o} == {name, other})
    found = score(name, other, meetings)
    return f"{'' if is_exact or found is None else '~'}{_short(found)}"


def _short(share: Fraction | None) -> str:
    return "?" if share is None else percent(share).removesuffix(" %")


def _notes(told: Report) -> list[str]:
    """Return what has to be known to read the table, a sentence a line."""
    notes = [
        f"{rank} is {printable(one.name)}."
        for rank, one in enumerate(told.ratings, 1)
        if cut(one.name, LONGEST_NAME) != printable(one.name)
    ]
    if not told.is_whole:
        notes.append(f"Only {told.played:,} of {told.planned:,} games were played: it was interrupted.")
    source = "those with ~ are from games" if told.planned else "all are exact"
    notes.append(f"Scores are in percent, over both seats; {source}.")
    begun = {(one.x, one.o) for one in told.meetings if one.games}
    if any((o, x) not in begun for x, o in begun):
        notes.append("Where two have met in one seat only, the first move counts in their score.")
    for one in told.forfeits:
        times = "a game" if one.games == 1 else f"{one.games:,} games, the first one"
        notes.append(f"{printable(one.name)} forfeited {times}: {printable(one.first)}.")
    return notes


def _plain_bot(bot: Entrant, rank: int, rating: Rating, meetings: Sequence[Meeting]) -> dict[str, object]:
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


def _plain_meeting(meeting: Meeting) -> dict[str, object]:
    """Return a meeting as data: exact shares as text and as numbers, and the games that were counted."""
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
