"""How often one address may do something: a bucket of tokens each, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from math import ceil

from noughts.web.problems import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ADDRESSES = 10_000
"""How many addresses are remembered; those that came longest ago are forgotten first."""


class Limit:
    """So many a minute for each address, and as many at once; 0 is no limit."""

    def __init__(self, what: str, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._most = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, address: str) -> None:
        """Take one token, or refuse."""
        if not self._most:
            return
        left = self._left(address)
        if left < 1:
            raise self._refusal(left)
        self._keep(address, left - 1)

    def check(self, address: str) -> None:
        """Refuse an address that has no token left, and take none."""
        if self._most and (left := self._left(address)) < 1:
            raise self._refusal(left)

    def _left(self, address: str) -> float:
        now = self._clock()
        left, since = self._buckets.get(network(address), (float(self._most), now))
        return min(float(self._most), left + (now - since) * self._most / 60)

    def _keep(self, address: str, left: float) -> None:
        name = network(address)
        self._buckets[name] = left, self._clock()
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)

    def _refusal(self, left: float) -> Refused:
        wait = max(1, ceil((1 - left) * 60 / self._most))
        return Refused(
            "tooMany", f"too many {self._what} from your address: wait {wait} s", retry_after=wait
        )


def network(address: str) -> str:
    """Return what counts as one address: of the newer kind everybody has 2 to the 64.

    >>> network("2001:db8:1:2:3:4:5:6"), network("192.0.2.7")
    ('2001:db8:1:2', '192.0.2.7')
    """
    if ":" not in address:
        return address
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and not found.ipv4_mapped:
        return ":".join(f"{int(part, 16):x}" for part in found.exploded.split(":")[:4])
    return str(getattr(found, "ipv4_mapped", None) or found)
