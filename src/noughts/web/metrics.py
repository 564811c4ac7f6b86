"""Metrics in the format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

HELP = {
    "requests": ("counter", "Requests answered, by route and status."),
    "moves": ("counter", "Tokens placed, by people and bots."),
    "games_created": ("counter", "Games created, by kind of opponent."),
    "readers_dropped": ("counter", "Streams cut because their reader was too slow."),
    "connections_refused": ("counter", "Connections refused because there were too many."),
    "commits": ("counter", "Commits of events and documents."),
    "commits_failed": ("counter", "Commits that failed."),
    "commands_recorded": ("counter", "Commands and documents that commits were asked to write."),
    "games_expired": ("counter", "Games deleted because they were idle for long."),
    "games_damaged": ("counter", "Games that turned out to be damaged."),
    "turns_missed": ("counter", "Turns of bots that only the check every second found."),
    "turns_waiting": ("gauge", "Bots that have to move."),
    "streams": ("gauge", "Streams that are open."),
    "live_games": ("gauge", "Games in memory."),
}


class Metrics:
    """Counters, and gauges that are computed when they are read."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.created: Counter[str] = Counter()
        self.moves = 0
        self.connections_refused = 0
        self.lookups: dict[str, Callable[[], int]] = {}

    def text(self) -> str:
        found: dict[str, list[tuple[str, int]]] = {
            "requests": [
                (f'{{route="{route}",status="{status}"}}', count)
                for (route, status), count in sorted(self.requests.items())
            ],
            "moves": [("", self.moves)],
            "games_created": [
                (f'{{opponent="{kind}"}}', count) for kind, count in sorted(self.created.items())
            ],
            "connections_refused": [("", self.connections_refused)],
            **{name: [("", look())] for name, look in self.lookups.items()},
        }
        lines = []
        for name, values in found.items():
            kind, words = HELP[name]
            full = f"noughts_{name}{'_total' if kind == 'counter' else ''}"
            lines += [f"# HELP {full} {words}", f"# TYPE {full} {kind}"]
            lines += [f"{full}{labels} {value}" for labels, value in values]
        return "\n".join(lines) + "\n"
