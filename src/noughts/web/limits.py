"""Limits per address: token buckets in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Network
from math import ceil

from noughts.web.problems import ApiError
from noughts.web.request import Request
from noughts.web.settings import Settings

MAX_ADDRESSES = 10_000
"""Beyond that, those that came longest ago are forgotten."""


class Limit:
    """A token bucket per address; 0 disables the limit."""

    def __init__(self, what: str, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, request: Request) -> None:
        """Take a token, or refuse."""
        if not self._per_minute:
            return
        name, now, most = network(request.address), self._clock(), float(self._per_minute)
        left, since = self._buckets.get(name, (most, now))
        left = min(most, left + (now - since) * most / 60)
        if left < 1:
            wait = max(1, ceil((1 - left) * 60 / most))
            raise ApiError(
                "tooMany", f"too many {self._what} from your address: wait {wait} s", retry_after=wait
            )
        self._buckets[name] = left - 1, now
        self._buckets.move_to_end(name)
        if len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)


class Limits:
    """Every limit per address, apart from that of streams."""

    def __init__(self, settings: Settings) -> None:
        self.creates = Limit("new games", settings.creates_per_minute)
        self.joins = Limit("attempts to join", settings.joins_per_minute)
        self.moves = Limit("moves", settings.moves_per_minute)
        self.wrong_secrets = Limit("wrong secrets", settings.wrong_secrets_per_minute)
        self.analyses = Limit("analyses", settings.analyses_per_minute)
        self.drawings = Limit("QR codes", settings.creates_per_minute)


@lru_cache(maxsize=4096)
def network(address: str) -> str:
    """Return the key to count a bare address by: for IPv6, its network of 64 bits.

    >>> network("2001:db8:1:2:3:4:5:6"), network("192.0.2.7")
    ('2001:db8:1:2::/64', '192.0.2.7')
    """
    try:
        return str(IPv6Network((address, 64), strict=False))
    except ValueError:
        return address
