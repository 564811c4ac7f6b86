"""A tournament: every bot meets every other one in both seats, and X starts.

The odds of two policies are exact, so they play no games. Where one of the two is a program, games are
played (`match_runner.py`) and counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import count, permutations

from noughts.bots.odds import odds
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.program import Program, poll
from noughts.bots.registry import BOT, PROGRAM, parse_player
from noughts.core.board import Board, Mark
from noughts.core.errors import quoted
from noughts.core.value import Value
from noughts.lab.errors import NoTournament

MAX_GAMES_PER_SEAT = 10**9
_POLL_SECONDS = 0.1


class Entrant(Value):
    """A bot that takes part."""

    name: str
    """Its unique name in the tables."""
    asked: str
    """What was typed."""
    policy: CachedPolicy | None
    """None if it is a program."""

    @property
    def command(self) -> str:
        return parse_player(self.asked, bots_only=True)[1]


class Meeting(Value):
    """The results of two bots, one as X and the other as O."""

    x: str
    o: str
    games: int
    """How many were played; the weight of exact odds."""
    shares: tuple[Fraction, Fraction, Fraction]
    """The shares of games won by X, drawn, and won by O."""
    is_exact: bool

    @property
    def score(self) -> Fraction:
        """X's points per game: 1 for a win, 1/2 for a draw."""
        return self.shares[0] + self.shares[1] / 2


class GameResult(Value):
    """A game that was played."""

    x: str
    o: str
    number: int
    winner: Mark | None
    forfeit: str = ""
    """Why the loser forfeited, if it did."""


class Forfeits(Value):
    """How many games a program forfeited, and the first reason."""

    name: str
    games: int
    first: str


def enter(
    bots: Sequence[str], asked_policy: Callable[[str], Policy], timeout_seconds: float
) -> tuple[Entrant, ...]:
    """Return the entrants; each program is started once, to check it and to get its name."""
    asked = [parse_player(bot, bots_only=True) for bot in bots]
    written = [text if kind == BOT else f"{kind}{text}" for kind, text in asked]
    if len(asked) < 2:
        raise NoTournament(f"a tournament needs at least two bots, not only {quoted(written[0])}")
    for place, bot in enumerate(written):
        if bot in written[:place]:
            raise NoTournament(f"{quoted(bot)} is named twice: a bot does not play itself")
    policies = [CachedPolicy(asked_policy(text)) if kind == BOT else None for kind, text in asked]
    names: list[str] = []
    for (_, text), policy in zip(asked, policies, strict=True):
        names.append(_unique_name(text if policy else _program_name(text, timeout_seconds), names))
    return tuple(map(Entrant, names, bots, policies))


def _program_name(command: str, timeout_seconds: float) -> str:
    with Program(command, timeout_seconds, _poll_briefly) as program:
        return f"{PROGRAM}{program.name}"


def _poll_briefly(sources: Iterable[int], seconds: float) -> list[int]:
    """Poll for a short time, so that Ctrl-C works."""
    return poll(sources, min(seconds, _POLL_SECONDS))


def _unique_name(name: str, others: Sequence[str]) -> str:
    """Append a number if another entrant has the name.

    >>> _unique_name("program:chance", ["random", "program:chance", "program:chance-2"])
    'program:chance-3'
    """
    if name not in others:
        return name
    return next(new for number in count(2) if (new := f"{name}-{number}") not in others)


class Tournament:
    """The pairings and their results so far; the odds of policies are computed at the start.

    That takes a while if there are many policies: `on_progress` gets the number of odds computed so far.
    """

    def __init__(
        self, entrants: Sequence[Entrant], games: int, on_progress: Callable[[int], None] = lambda _: None
    ) -> None:
        if games > MAX_GAMES_PER_SEAT:
            raise NoTournament(f"a pair plays at most {MAX_GAMES_PER_SEAT:,} games in each seat")
        self.entrants = tuple(entrants)
        self.games = games
        """Games per pair and seat; the weight of exact odds."""
        self.to_play: list[tuple[Entrant, Entrant]] = []
        """The pairs (X, O) without exact odds."""
        self._exact: dict[tuple[str, str], Meeting] = {}
        self._counts: dict[tuple[str, str], dict[Mark | None, int]] = {}
        self._forfeits: dict[str, tuple[int, tuple[int, int, str]]] = {}
        for x, o in permutations(entrants, 2):
            if x.policy and o.policy:
                found = odds(x.policy, o.policy)
                shares = found.x, found.draw, found.o
                self._exact[x.name, o.name] = Meeting(x.name, o.name, games, shares, is_exact=True)
                on_progress(len(self._exact))
            else:
                self.to_play.append((x, o))
                self._counts[x.name, o.name] = dict.fromkeys((Mark.X, None, Mark.O), 0)
        for entrant in {bot.name: bot for pair in self.to_play for bot in pair}.values():
            if entrant.policy:
                _query_all_positions(entrant.policy)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entrant.name for entrant in self.entrants)

    @property
    def planned(self) -> int:
        return self.games * len(self.to_play)

    @property
    def played(self) -> int:
        return sum(sum(counts.values()) for counts in self._counts.values())

    def record(self, result: GameResult) -> None:
        pair = result.x, result.o
        self._counts[pair][result.winner] += 1
        if result.forfeit and result.winner:
            loser = result.o if result.winner is Mark.X else result.x
            when = list(self._counts).index(pair), result.number, result.forfeit
            games, first = self._forfeits.get(loser, (0, when))
            self._forfeits[loser] = games + 1, min(first, when)

    @property
    def meetings(self) -> tuple[Meeting, ...]:
        pairs = permutations(self.names, 2)
        return tuple(self._exact.get(pair) or _counted(*pair, self._counts[pair]) for pair in pairs)

    @property
    def forfeits(self) -> tuple[Forfeits, ...]:
        """The forfeits of each bot; the first one is the first of the plan, not the first in time."""
        found = ((name, self._forfeits.get(name)) for name in self.names)
        return tuple(Forfeits(name, lost[0], lost[1][2]) for name, lost in found if lost)


def score(name: str, against: str | None, meetings: Iterable[Meeting]) -> Fraction | None:
    """Return a bot's points per game against another, or against all; None without games.

    If a pair has games in both seats, each seat counts for half, however many games it has: moving first
    is an advantage, which must cancel out.
    """
    seats: dict[str, list[tuple[int, Fraction]]] = {}
    for meeting in meetings:
        if meeting.games and name == meeting.x and against in (None, meeting.o):
            seats.setdefault(meeting.o, []).append((meeting.games, meeting.score))
        elif meeting.games and name == meeting.o and against in (None, meeting.x):
            seats.setdefault(meeting.x, []).append((meeting.games, 1 - meeting.score))
    points, games = Fraction(0), 0
    for results in seats.values():
        together = sum(number for number, _ in results)
        points += together * sum((mean for _, mean in results), Fraction(0)) / len(results)
        games += together
    return points / games if games else None


def _counted(x: str, o: str, counts: dict[Mark | None, int]) -> Meeting:
    games = sum(counts.values())
    x_wins, draws, o_wins = (Fraction(number, games or 1) for number in counts.values())
    return Meeting(x, o, games, (x_wins, draws, o_wins), is_exact=False)


def _query_all_positions(policy: CachedPolicy) -> None:
    """Query a policy in every position that it can reach, so that it fails now or never.

    The results are cached: workers do not call the policy at the same time.
    """
    for mark in Mark:
        seen, ahead = set(), [Board()]
        while ahead:
            board = ahead.pop()
            if board not in seen and not board.is_over:
                seen.add(board)
                cells = policy.weights(board).cells if board.turn is mark else board.free_cells
                ahead += map(board.place, cells)
