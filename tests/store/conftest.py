"""The fixtures of the store's tests."""

from support.store_fixtures import (
    new_url,
    open_again,
    postgres,
    postgres_url,
    proxied_url,
    proxy,
    sqlite_url,
    store,
    url,
)

__all__ = [
    "new_url",
    "open_again",
    "postgres",
    "postgres_url",
    "proxied_url",
    "proxy",
    "sqlite_url",
    "store",
    "url",
]
