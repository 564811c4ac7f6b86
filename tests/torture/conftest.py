"""Fixtures of the long tests."""

from __future__ import annotations

from support.web.fixtures import quick, store_url  # noqa: F401 - fixtures
