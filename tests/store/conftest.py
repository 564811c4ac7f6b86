"""Fixtures of the store's tests."""

from support.store_fixtures import *  # noqa: F403 - every fixture of that module
