"""A fixture of the bots' tests."""

from support.hostile_bots import started  # noqa: F401 - a fixture
