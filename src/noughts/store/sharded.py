"""A store of several databases; a hash of a game's id says which one has it.

Playing a game needs only its own database. Lists merge the rows of all databases, and a cursor has one
place for each. A batch is one commit in each database that it concerns.
"""

# ruff: noqa: SLF001 - the shards belong to this store

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from heapq import merge
from itertools import chain, islice, zip_longest
from operator import attrgetter
from typing import Any, TypeVar

from noughts.core.errors import InvalidArgument, NoughtsError
from noughts.store.appends import Append, Batch, CatalogueRow, Head
from noughts.store.base import EventStore, GameFilter, Start, Table
from noughts.store.documents import Row as DocumentRow, Write
from noughts.store.postgres import PostgresStore
from noughts.store.postgres_schema import Shard
from noughts.store.records import Record, not_a_cursor

Item = TypeVar("Item")

CURSOR_SEPARATOR = "/"


class ShardedStore(EventStore):
    """A store in several databases, whose number and order never change."""

    def __init__(self, urls: Sequence[str], *, create: bool = True, checkpoint_file: str = "") -> None:
        super().__init__()
        self._shards: list[PostgresStore] = []
        try:
            for number, url in enumerate(urls):
                place = Shard(number, len(urls))
                shard = PostgresStore(url, create=create, shard=place, checkpoint_file=checkpoint_file)
                shard._wakeups = self._wakeups
                self._shards.append(shard)
        except BaseException:
            self._close()
            raise

    def record(self, items: Sequence[Append | Write]) -> None:
        """Record the items in one commit per database; if that fails, its items are refused."""
        self._check_open()
        parts = self._parts(items, _name_of)
        if len(parts) < 2:
            for shard, some in parts.items():
                shard.record(some)
            return
        # Not a shared pool: other callers may be waiting for a database that is away.
        with ThreadPoolExecutor(len(parts)) as threads:
            futures = {threads.submit(shard.record, some): some for shard, some in parts.items()}
        for future, some in futures.items():
            if isinstance(failure := future.exception(), NoughtsError):
                for item in some:
                    item.refusal = failure
            elif failure:
                raise failure

    def _commit(self, batch: Batch) -> None:
        appends = self._parts(batch.appends, lambda append: append.game)
        documents = self._parts(batch.documents, lambda document: document.name)
        for shard in {**appends, **documents}:
            shard.restore(appends.get(shard, ()), documents.get(shard, ()))

    def checkpoint(self) -> None:
        self._check_open()
        for shard in self._shards:
            shard.checkpoint()

    def parts(self) -> Sequence[EventStore]:
        return self._shards

    def _cover(self, game: str) -> None:
        self._shard(game)._cover(game)

    def _shard(self, name: str) -> PostgresStore:
        digest = sha256(name.encode()).digest()
        return self._shards[int.from_bytes(digest[:8], "big") % len(self._shards)]

    def _parts(
        self, items: Iterable[Item], name_of: Callable[[Item], str]
    ) -> dict[PostgresStore, list[Item]]:
        parts: dict[PostgresStore, list[Item]] = {}
        for item in items:
            parts.setdefault(self._shard(name_of(item)), []).append(item)
        return parts

    def _records(self, game: str, after: int) -> list[Record]:
        return self._shard(game)._records(game, after)

    def _records_of_many(self, after: Mapping[str, int]) -> dict[str, list[Record]]:
        return {
            game: records
            for shard, some in self._parts(after, str).items()
            for game, records in shard._records_of_many({game: after[game] for game in some}).items()
        }

    def _heads(self, games: Sequence[str]) -> dict[str, Head]:
        parts = self._parts(games, str)
        return {game: head for shard, some in parts.items() for game, head in shard._heads(some).items()}

    def _feed(self, table: Table, after: str, limit: int) -> tuple[list[Any], str]:
        cursors = after.split(CURSOR_SEPARATOR) if after else [""] * len(self._shards)
        if len(cursors) != len(self._shards):
            raise not_a_cursor(after)
        found: list[Any] = []
        for number, shard in enumerate(self._shards):
            page, cursors[number] = shard._feed(table, cursors[number], limit - len(found))
            found += page
        return found, CURSOR_SEPARATOR.join(cursors)

    def _feed_end(self, table: Table) -> str:
        return CURSOR_SEPARATOR.join(shard._feed_end(table) for shard in self._shards)

    def _catalogue(self, wanted: GameFilter, limit: int, before: Start | None) -> list[CatalogueRow]:
        pages = [shard._catalogue(wanted, limit, before) for shard in self._shards]
        return [*islice(merge(*pages, key=attrgetter("start"), reverse=True), limit)]

    def _documents(self, names: Sequence[str]) -> list[DocumentRow]:
        parts = self._parts(names, str).items()
        return [row for shard, some in parts for row in shard._documents(some)]

    def _labelled(self, label: str, limit: int) -> list[DocumentRow]:
        pages = [shard._labelled(label, limit) for shard in self._shards]
        return [row for row in chain.from_iterable(zip_longest(*pages)) if row][:limit]

    def _listen(self) -> None:
        for shard in self._shards:
            shard._listen()

    def _close(self) -> None:
        for shard in self._shards:
            shard.close()


def _name_of(item: Append | Write) -> str:
    if not isinstance(item, Append):
        return item.document.name
    if item.document_name not in ("", item.game):
        raise InvalidArgument("with several databases, a game's own document must have the game's id")
    return item.game
