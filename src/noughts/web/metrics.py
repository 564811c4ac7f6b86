"""Metrics in the format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator

HELP = {
    "requests": ("counter", "Requests answered, by route and status."),
    "moves": ("counter", "Tokens placed, by people and bots."),
    "games_created": ("counter", "Games created, by kind of opponent."),
    "streams_ended": ("counter", "Streams ended because their reader had stopped reading."),
    "commits": ("counter", "Commits of games."),
    "commits_failed": ("counter", "Commits that failed."),
    "games_expired": ("counter", "Games deleted because they were idle for long."),
    "games_damaged": ("counter", "Games that turned out to be damaged."),
    "games_lost": ("counter", "Games that the store had at an earlier state than acknowledged."),
    "bots_thinking": ("gauge", "Bots that have to move."),
    "streams": ("gauge", "Streams that are open."),
    "cached_games": ("gauge", "Games in memory."),
    "oldest_commit_seconds": ("gauge", "How long the oldest change has waited for its commit."),
    "request_seconds": ("histogram", "Time to answer a request, except for streams."),
    "commit_seconds": ("histogram", "Time that a commit took."),
    "stream_seconds": ("histogram", "Time from a commit until a stream was given what it changed."),
}
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The upper bounds of the buckets of a histogram, in seconds."""


class Histogram:
    """How often something took how long; to observe is to append, which costs next to nothing."""

    def __init__(self) -> None:
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._sum = 0.0
        self._new: list[float] = []
        self.observe = self._new.append
        """Take a number of seconds."""

    def count(self) -> None:
        """Sort what was observed into the buckets; to be called every now and then."""
        for seconds in self._new:
            self._buckets[bisect_left(BOUNDS, seconds)] += 1
        self._sum += sum(self._new)
        self._new.clear()

    def lines(self, name: str) -> Iterator[str]:
        self.count()
        count = 0
        for bound, number in zip((*BOUNDS, "+Inf"), self._buckets, strict=True):
            count += number
            yield f'{name}_bucket{{le="{bound}"}} {count}'
        yield f"{name}_sum {self._sum}"
        yield f"{name}_count {count}"


class Metrics:
    """Counters, and gauges that are computed when they are read."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.created: Counter[str] = Counter()
        self.moves = 0
        self.request_seconds, self.commit_seconds, self.stream_seconds = (Histogram() for _ in range(3))
        self.lookups: dict[str, Callable[[], float]] = {}

    def count(self) -> None:
        for histogram in (self.request_seconds, self.commit_seconds, self.stream_seconds):
            histogram.count()

    def text(self) -> str:
        found: dict[str, list[tuple[str, float]]] = {
            "requests": [
                (f'{{route="{route}",status="{status}"}}', count)
                for (route, status), count in sorted(self.requests.items())
            ],
            "moves": [("", self.moves)],
            "games_created": [
                (f'{{opponent="{kind}"}}', count) for kind, count in sorted(self.created.items())
            ],
            **{name: [("", look())] for name, look in self.lookups.items()},
        }
        lines: list[str] = []
        for name, (kind, words) in HELP.items():
            full = f"noughts_{name}{'_total' if kind == 'counter' else ''}"
            lines += [f"# HELP {full} {words}", f"# TYPE {full} {kind}"]
            if kind == "histogram":
                lines += getattr(self, name).lines(full)
            else:
                lines += [f"{full}{labels} {value}" for labels, value in found.get(name, ())]
        return "\n".join(lines) + "\n"
