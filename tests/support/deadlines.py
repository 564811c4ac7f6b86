"""How long tests wait: only something that hangs takes so long."""

from __future__ import annotations

DEADLINE_SECONDS = 60.0

LONG_DEADLINE_SECONDS = 120.0
"""For many threads or processes, for stores and for proxies."""
