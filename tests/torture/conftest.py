"""Fixtures of the long hostile tests."""

from support.length import short_or_long
from support.store_fixtures import postgres, postgres_url, sqlite_url, url
from support.web.fixtures import store_url

__all__ = ["postgres", "postgres_url", "sqlite_url", "store_url", "url"]

collect_ignore = short_or_long(["test_nginx.py"], [])
"""What needs nginx, which only `make torture` installs."""
