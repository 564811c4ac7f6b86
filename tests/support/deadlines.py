"""How long tests wait: only something that hangs takes so long."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE_SECONDS = 60.0

LONG_DEADLINE_SECONDS = 120.0
"""For many threads or processes, for stores and for proxies."""


def eventually(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + LONG_DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never comes"
        time.sleep(0.01)
