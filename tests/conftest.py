"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples on every run, and none is failed for a slow machine; the long runs look further.
settings.register_profile("short", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)
settings.load_profile("long" if os.environ.get("NOUGHTS_TORTURE") else "short")
