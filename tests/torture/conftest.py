"""Fixtures of the long hostile tests."""

from support.store_fixtures import open_again, postgres, postgres_url, sqlite_url, url
from support.web.fixtures import quick, store_url

__all__ = ["open_again", "postgres", "postgres_url", "quick", "sqlite_url", "store_url", "url"]
