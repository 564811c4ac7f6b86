"""Figures that a test run prints at its end, summed over all tests and processes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

PROPERTY = "figure"
Property: TypeAlias = Callable[[str, object], None]
"""The type of the fixture `record_property`."""


def record_figure(record_property: Property, line: str, **numbers: float) -> None:
    """Add to a line such as `{kills} kills: {lost} lost`; call this before the test can fail."""
    record_property(PROPERTY, [line, numbers])


@contextmanager
def tally(record_property: Property, line: str) -> Iterator[Counter[str]]:
    """Yield a counter; its numbers are added to the line at the end, even if the test fails."""
    numbers: Counter[str] = Counter()
    try:
        yield numbers
    finally:
        record_figure(record_property, line, **numbers)


def lines(properties: Iterable[tuple[str, object]]) -> list[str]:
    """Return the lines, with the sums over all tests."""
    sums: dict[str, defaultdict[str, float]] = {}
    for name, value in properties:
        if name == PROPERTY and isinstance(value, list):
            line, numbers = value
            own = sums.setdefault(line, defaultdict(int))
            for what, number in numbers.items():
                own[what] += number
    return [line.format_map(numbers) for line, numbers in sorted(sums.items())]
