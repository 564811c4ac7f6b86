"""Fixtures of the long hostile tests."""

from collections.abc import Iterator

import pytest

from support.length import short_or_long
from support.pgbouncer import pooled
from support.postgres_server import Server
from support.store_fixtures import postgres, postgres_url, sqlite_url, url
from support.web.fixtures import store_url

__all__ = ["postgres", "postgres_url", "sqlite_url", "store_url", "url"]

collect_ignore = short_or_long(["test_nginx.py"], [])
"""What needs nginx, which only `make torture` installs."""


@pytest.fixture
def pooled_url(postgres: Server) -> Iterator[str]:
    with pooled(postgres) as url:
        yield url
