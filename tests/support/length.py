"""How long the tests run: `make test` is short, `make torture` long."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def short_or_long(short: T, long: T) -> T:
    """Return what this run takes: how many examples to try, say."""
    return long if os.environ.get("NOUGHTS_TORTURE") else short
