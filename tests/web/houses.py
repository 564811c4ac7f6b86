"""A server's components in the process of the tests, without its sockets."""

from __future__ import annotations

import gc
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from noughts.web.house import House
from noughts.web.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def open_house(
    store: str = "memory:", *, cached_games: int = 4096, expire_days: int = 30, is_shared: bool = False
) -> AsyncIterator[House]:
    """Open the components of a server, and close them in the end."""
    threshold = gc.get_threshold()
    settings = Settings(store=store, cached_games=cached_games, expire_days=expire_days)
    house = House(settings, is_shared=is_shared)
    await house.open()
    try:
        yield house
    finally:
        await house.close()
        gc.set_threshold(*threshold)
