"""Group reads: requests that arrive during a read share the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from noughts.core.errors import NoughtsError
from noughts.store.base import EventStore
from noughts.store.documents import Document
from noughts.store.errors import CorruptStore
from noughts.store.records import Record
from noughts.web.world import Runner, resolve

Found: TypeAlias = tuple[Document | None, tuple[Record, ...]]

MAX_READS = 2
"""At the same time."""

MAX_GAMES_PER_READ = 100
"""The others wait for the next read."""


class _Wanted(NamedTuple):
    game: str
    after: int
    found: asyncio.Future[Found]


class Reader:
    """Reads games with their rooms."""

    def __init__(self, store: EventStore, threads: Runner) -> None:
        self._store = store
        self._threads = threads
        self._waiting: list[_Wanted] = []
        self._reads = 0

    async def read(self, game: str, after: int) -> Found:
        """Return a game's room, and its records that reach beyond a version."""
        found: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Wanted(game, after, found))
        if self._reads < MAX_READS:
            self._read()
        return await found

    def _read(self) -> None:
        self._reads += 1
        batch, self._waiting = self._waiting[:MAX_GAMES_PER_READ], self._waiting[MAX_GAMES_PER_READ:]
        reading = self._threads.run(lambda: self._read_all([(one.game, one.after) for one in batch]))
        reading.add_done_callback(lambda done: self._settle(batch, done))

    def _settle(self, batch: list[_Wanted], done: asyncio.Future[list[Found | NoughtsError]]) -> None:
        self._reads -= 1
        if done.cancelled():
            return
        if self._waiting:
            self._read()
        failure = done.exception()
        results = [failure] * len(batch) if failure else done.result()
        for wanted, result in zip(batch, results, strict=True):
            if isinstance(result, BaseException):
                resolve(wanted.found, None, result)
            else:
                resolve(wanted.found, result)

    def _read_all(self, wanted: Sequence[tuple[str, int]]) -> list[Found | NoughtsError]:
        after: dict[str, int] = {}
        for game, version in wanted:
            after[game] = min(version, after.get(game, version))
        try:
            documents = {document.name: document for document in self._store.documents_named(after)}
            records = self._store.read_many(after)
        except CorruptStore:  # a damaged game doesn't hide the others
            return [self._read_one(game, version) for game, version in wanted]
        return [
            (documents.get(game), records[game]) if game in records else self._read_one(game, version)
            for game, version in wanted
        ]

    def _read_one(self, game: str, after: int) -> Found | NoughtsError:
        try:
            return self._store.document(game), self._store.read(game, after)
        except NoughtsError as error:
            return error
