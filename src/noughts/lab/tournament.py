"""A tournament: every bot meets every other one in both seats, and X starts.

Two policies have exact odds, and play no game. Where one of the two is a program, games are played
(`sittings.py`), and counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import count, permutations
from unicodedata import combining, east_asian_width

from noughts.bots.odds import odds
from noughts.bots.policy import CachedPolicy, Policy
from noughts.bots.program import Program, poll
from noughts.bots.registry import BOT, PROGRAM, parse_player
from noughts.core.board import Board, Mark
from noughts.core.errors import printable, quoted
from noughts.core.value import Value
from noughts.lab.errors import NoTournament

MOST_GAMES = 10**9
"""More than anybody will wait for."""
_A_MOMENT = 0.1


class Entrant(Value):
    """A bot that takes part."""

    name: str
    """What it is called in the tables; no two have the same."""
    asked: str
    """What was typed."""
    policy: CachedPolicy | None
    """None if it is a program."""

    @property
    def command(self) -> str:
        """The command of a program."""
        return parse_player(self.asked, bots_only=True)[1]


class Meeting(Value):
    """How two bots fared, one as X and the other as O."""

    x: str
    o: str
    games: int
    """How many were played; if the odds are exact, how many they count for."""
    shares: tuple[Fraction, Fraction, Fraction]
    """Of the games that X won, that were drawn, and that O won."""
    is_exact: bool

    @property
    def score(self) -> Fraction:
        """What X got for a game: 1 for a win, 1/2 for a draw."""
        return self.shares[0] + self.shares[1] / 2


class Played(Value):
    """A game that was played."""

    x: str
    o: str
    number: int
    winner: Mark | None
    forfeit: str = ""
    """Why the loser lost by what it did, if it did."""


class Forfeits(Value):
    """How many games a program lost by what it did, and what that was the first time."""

    name: str
    games: int
    first: str


def enter(
    bots: Sequence[str], asked_policy: Callable[[str], Policy], patience: float
) -> tuple[Entrant, ...]:
    """Return those who take part; a program is started once, to see that it can be and hear its name."""
    asked = [parse_player(bot, bots_only=True) for bot in bots]
    written = [text if kind == BOT else f"{kind}{text}" for kind, text in asked]
    if len(asked) < 2:
        raise NoTournament(f"a tournament needs two bots at least, and {quoted(written[0])} is alone")
    for place, bot in enumerate(written):
        if bot in written[:place]:
            raise NoTournament(f"{quoted(bot)} is named twice: a bot does not meet itself")
    policies = [CachedPolicy(asked_policy(text)) if kind == BOT else None for kind, text in asked]
    names: list[str] = []
    for (_, text), policy in zip(asked, policies, strict=True):
        names.append(_told_apart(text if policy else _own_name(text, patience), names))
    return tuple(map(Entrant, names, bots, policies))


def _own_name(command: str, patience: float) -> str:
    with Program(command, patience, _wait_in_moments) as program:
        return f"{PROGRAM}{program.name}"


def _wait_in_moments(sources: Iterable[int], seconds: float) -> list[int]:
    """Wait, but never so long that Ctrl-C would not be heard."""
    return poll(sources, min(seconds, _A_MOMENT))


def _told_apart(name: str, others: Sequence[str]) -> str:
    """Return a name that no other one has, with a number if need be.

    >>> _told_apart("program:chance", ["random", "program:chance", "program:chance-2"])
    'program:chance-3'
    """
    if name not in others:
        return name
    return next(new for number in count(2) if (new := f"{name}-{number}") not in others)


def wide(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> wide("random"), wide("三目並べ")
    (6, 8)
    """
    return sum((not combining(sign)) + (east_asian_width(sign) in "WF") for sign in text)


def cut(name: str, longest: int) -> str:
    """Return a name as it can be shown, and no wider than that: what is left out is told by a sign.

    >>> cut("club:win=0,block=0,fork=0", 20)
    'club:win=0,block=0,…'
    """
    shown = whole = printable(name)
    while wide(shown) > longest - (shown != whole):
        shown = shown[:-1]
    return shown if shown == whole else f"{shown}…"


class Tournament:
    """Who meets whom, and how that went so far; the odds of policies are known from the start.

    Where there are many policies that takes a while; `reckoned` hears how many odds are known already.
    """

    def __init__(
        self, entrants: Sequence[Entrant], games: int, reckoned: Callable[[int], None] = lambda _: None
    ) -> None:
        if games > MOST_GAMES:
            raise NoTournament(f"a pair plays {MOST_GAMES:,} games in each seat at most")
        self.entrants = tuple(entrants)
        self.games = games
        """How many are played by each pair in each seat, and how many exact odds count for."""
        self.to_play: list[tuple[Entrant, Entrant]] = []
        """Those who have no exact odds: X and O."""
        self._exact: dict[tuple[str, str], Meeting] = {}
        self._counts: dict[tuple[str, str], dict[Mark | None, int]] = {}
        self._forfeits: dict[str, tuple[int, tuple[int, int, str]]] = {}
        for x, o in permutations(entrants, 2):
            if x.policy and o.policy:
                self._exact[x.name, o.name] = _exact(x.name, o.name, games, x.policy, o.policy)
                reckoned(len(self._exact))
            else:
                self.to_play.append((x, o))
                self._counts[x.name, o.name] = dict.fromkeys((Mark.X, None, Mark.O), 0)
        for entrant in {bot.name: bot for pair in self.to_play for bot in pair}.values():
            if entrant.policy:
                _ask_everything(entrant.policy)

    @property
    def names(self) -> tuple[str, ...]:
        """What those who take part are called, in the order in which they came."""
        return tuple(entrant.name for entrant in self.entrants)

    @property
    def planned(self) -> int:
        """How many games there are to be played."""
        return self.games * len(self.to_play)

    @property
    def done(self) -> int:
        """How many of them have been."""
        return sum(sum(counts.values()) for counts in self._counts.values())

    def record(self, played: Played) -> None:
        """Count a game."""
        pair = played.x, played.o
        self._counts[pair][played.winner] += 1
        if played.forfeit and played.winner:
            loser = played.o if played.winner is Mark.X else played.x
            when = list(self._counts).index(pair), played.number, played.forfeit
            games, first = self._forfeits.get(loser, (0, when))
            self._forfeits[loser] = games + 1, min(first, when)

    @property
    def meetings(self) -> tuple[Meeting, ...]:
        """How each fared against each so far, as X and as O."""
        pairs = permutations(self.names, 2)
        return tuple(self._exact.get(pair) or _counted(*pair, self._counts[pair]) for pair in pairs)

    @property
    def forfeits(self) -> tuple[Forfeits, ...]:
        """Who lost games by what it did; the first is the first of the plan, whoever played faster."""
        found = ((name, self._forfeits.get(name)) for name in self.names)
        return tuple(Forfeits(name, lost[0], lost[1][2]) for name, lost in found if lost)


def score(name: str, against: str | None, meetings: Iterable[Meeting]) -> Fraction | None:
    """Return what a bot got for a game against another, or all; None if it met nobody.

    Where it has met somebody in both seats, each seat counts for half, however many games it has: the
    first move is worth something, and nobody is to gain by having had it more often.
    """
    seats: dict[str, list[tuple[int, Fraction]]] = {}
    for meeting in meetings:
        if meeting.games and name == meeting.x and against in (None, meeting.o):
            seats.setdefault(meeting.o, []).append((meeting.games, meeting.score))
        elif meeting.games and name == meeting.o and against in (None, meeting.x):
            seats.setdefault(meeting.x, []).append((meeting.games, 1 - meeting.score))
    points, games = Fraction(0), 0
    for met in seats.values():
        together = sum(number for number, _ in met)
        points += together * sum((mean for _, mean in met), Fraction(0)) / len(met)
        games += together
    return points / games if games else None


def _exact(x: str, o: str, games: int, x_policy: Policy, o_policy: Policy) -> Meeting:
    found = odds(x_policy, o_policy)
    return Meeting(x, o, games, (found.x, found.draw, found.o), is_exact=True)


def _counted(x: str, o: str, counts: dict[Mark | None, int]) -> Meeting:
    games = sum(counts.values())
    x_wins, draws, o_wins = (Fraction(number, games or 1) for number in counts.values())
    return Meeting(x, o, games, (x_wins, draws, o_wins), is_exact=False)


def _ask_everything(policy: CachedPolicy) -> None:
    """Ask a policy about every position it can come to, once: it fails now or not at all.

    It remembers what it said, and so it is not asked by several tables at once.
    """
    for mark in Mark:
        met, ahead = set(), [Board()]
        while ahead:
            board = ahead.pop()
            if board not in met and not board.is_over:
                met.add(board)
                cells = policy.weights(board).cells if board.turn is mark else board.free_cells
                ahead += map(board.place, cells)
