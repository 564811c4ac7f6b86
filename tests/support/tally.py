"""Counting while a hostile test runs, so that the figure is told even if the test fails."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.figures import record_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def tally(record_property: Callable[[str, object], None], line: str) -> Iterator[Counter[str]]:
    """Lend a counter, and add what it says at the end to a line such as `{kills} kills: {lost} lost`."""
    numbers: Counter[str] = Counter()
    try:
        yield numbers
    finally:
        record_figure(record_property, line, **numbers)
