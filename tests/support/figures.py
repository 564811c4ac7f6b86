"""Figures that a run tells at its end, added up over all tests and all processes that ran them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROPERTY = "figure"


def record_figure(record_property: Callable[[str, object], None], line: str, **numbers: float) -> None:
    """Add to a line such as `{kills} kills: {lost} lost`; call this before the test can fail."""
    record_property(PROPERTY, [line, numbers])


def lines(properties: Iterable[tuple[str, object]]) -> list[str]:
    """Return the lines that all recorded properties add up to, one a kind."""
    sums: dict[str, defaultdict[str, float]] = {}
    for name, value in properties:
        if name == PROPERTY and isinstance(value, list):
            line, numbers = value
            own = sums.setdefault(line, defaultdict(int))
            for what, number in numbers.items():
                own[what] += number
    return [line.format_map(numbers) for line, numbers in sorted(sums.items())]
