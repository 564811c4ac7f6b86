"""The contract of all stores: append at a version, read, list, watch, delete.

A game's version is the number of its events. A writer names the version that it has seen; of two that
have seen the same version, one wins and the other gets `StaleVersion`. A command's events are one record:
they are recorded together or not at all, and are durable before `append` returns. An append that is
repeated with its key, after an unknown outcome, is recorded once. Documents are described in
`documents.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from noughts.core.codec import can_be_recorded
from noughts.core.errors import RecordError, quoted
from noughts.core.events import Event
from noughts.core.game import Game, fold
from noughts.core.value import Value
from noughts.store.appends import Append, Batch, CatalogueRow, Head, append_of
from noughts.store.documents import Document, Row as DocumentRow, Write, check_row
from noughts.store.errors import CorruptStore, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.group_commit import GroupCommit
from noughts.store.records import (
    Record,
    check_chain,
    check_id,
    check_linked,
    clamp,
    describe_change,
    not_a_cursor,
    tombstone_of,
)
from noughts.store.watch import ANYTHING, Subscription, Wakeups, Watch

Item = TypeVar("Item")
Table: TypeAlias = Literal["records", "documents"]
"""What has a feed."""
Start: TypeAlias = tuple[int, str]
"""When a game was created, and its id: its place in the catalogue."""
Progress: TypeAlias = Callable[[float], None]
"""Called with the share that is done, from 0 to 1."""

OnDamage: TypeAlias = Callable[[str, CorruptStore], None]
"""Called with the name of a damaged document and the error."""

__all__ = ["Append", "EventStore", "GameFilter", "GameSummary", "Record", "Watch", "append_of"]

PAGE_ROWS = 1000
DAMAGED = "damaged: noughts store verify says more"
AGAINST_THE_RULES = "recorded, but against the rules"


class GameFilter(Value):
    """Which games to list; by default all."""

    player: str | None = None
    is_over: bool | None = None
    result: str | None = None
    """`X`, `O` or `draw`."""
    id_prefix: str = ""


ALL_GAMES = GameFilter()


class GameSummary(NamedTuple):
    """A game in a list."""

    id: str
    started: int
    """When it was created, in milliseconds since 1970."""
    version: int = 0
    game: Game | None = None
    """The current state; None if its records are faulty."""
    last_played: int = 0
    """When its last record was made, in milliseconds since 1970."""
    fault: str | None = None
    """Why `game` is None."""


class EventStore(ABC):
    """A store of games. Threads may share it; close it when you are done."""

    def __init__(self) -> None:
        self._group = GroupCommit(self._record)
        self._wakeups = Wakeups()
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"  # without its address, which may have a password in it

    def append(self, game: str, events: Iterable[Event], *, expected: int, key: str, at: int) -> int:
        """Record the events of one command, and return the game's new version.

        `expected` is the version that the command was judged at, `key` identifies the command, and `at`
        is the time in milliseconds since 1970.
        """
        append = append_of(game, expected, events, key=key, at=at)
        self.record((append,))
        if append.refusal:
            raise append.refusal
        return expected + append.count

    def record(self, items: Sequence[Append | Write]) -> None:
        """Record appends and write documents in one commit; each that loses has a `refusal`."""
        self._group.record(items)

    def restore(self, appends: Sequence[Append], documents: Sequence[Document] = ()) -> None:
        """Record what was recorded elsewhere, all in one commit or nothing; documents as they are."""
        batch = Batch(appends, documents=documents, is_whole=True)
        self._group.record(appends, alone=lambda _appends: self._write(batch))

    def delete(self, game: str, *, at: int, expected: int | None = None) -> None:
        """Delete a game and its document, and leave a tombstone: a record of the deletion.

        With `expected`, a game at another version raises `StaleVersion`. Repeated after an unknown
        outcome, it raises `NoSuchGame` if the first attempt has succeeded.
        """
        while True:
            records = self.read(game)
            if not records:
                raise NoSuchGame(f"no game has the id {quoted(game)}")
            self._cover(game)
            version = records[-1].next_version if expected is None else expected
            append = Append(game, version, tombstone_of(records), key=token_hex(13), at=at)
            self.record((append,))
            if not append.refusal:
                return
            if expected is not None or not isinstance(append.refusal, StaleVersion):
                raise append.refusal

    def read(self, game: str, after: int = 0) -> tuple[Record, ...]:
        """Return the game's records that reach beyond a version, checked; none if the game is unknown.

        After a version above 0, a deleted game raises `NoSuchGame`.
        """
        self._check_open()
        return self._checked(game, after, self._records(check_id(game), clamp(after)))

    def read_many(self, after: Mapping[str, int]) -> dict[str, tuple[Record, ...]]:
        """Return the records of each game that reach beyond its version; deleted games are left out."""
        self._check_open()
        wanted = {check_id(game): clamp(version) for game, version in after.items()}
        found = self._records_of_many(wanted)
        read: dict[str, tuple[Record, ...]] = {}
        for game, version in wanted.items():
            with suppress(NoSuchGame):
                read[game] = self._checked(game, version, found.get(game, []))
        return read

    def _checked(self, game: str, after: int, found: list[Record]) -> tuple[Record, ...]:
        is_deleted = bool(found) and found[0].is_deletion
        if after < 1 or not found or is_deleted:
            check_chain(found)
            if is_deleted and after > 0:
                raise NoSuchGame(f"game {game} was deleted")
            return () if is_deleted else tuple(found)
        first, *rest = found
        if type(first.hash) is not bytes or type(first.text) is not str:
            raise CorruptStore(describe_change(first))
        if first.next_version > after:  # within a command
            return tuple(record for record in self.read(game) if record.next_version > after)
        check_chain(rest, after, first.hash)
        return tuple(rest)

    def versions(self, games: Iterable[str]) -> dict[str, int]:
        """Return the versions of the games that exist."""
        self._check_open()
        heads = self._heads([check_id(game) for game in games])
        return {game: version for game, (version, _, is_deleted) in heads.items() if not is_deleted}

    def feed(self, after: str = "", limit: int = PAGE_ROWS) -> tuple[tuple[Record, ...], str]:
        """Return the records of all games after a cursor, and the cursor after them.

        Each game's records are in order. To follow a game, watch it: the feed may be late.
        """
        return self._page("records", check_linked, after, limit)

    def feed_end(self) -> str:
        self._check_open()
        return self._feed_end("records")

    def games(
        self, wanted: GameFilter = ALL_GAMES, *, limit: int = 20, before: Start | None = None
    ) -> tuple[GameSummary, ...]:
        """List games, the newest first; for the next page, those before (started, id) of the last."""
        while rows := self.catalogue(wanted, limit, before):
            if found := tuple(filter(None, map(self._summary, rows))):
                return found
            before = rows[-1].start  # all of them were deleted just now
        return ()

    def catalogue(
        self, wanted: GameFilter, limit: int, before: Start | None = None
    ) -> list[CatalogueRow]:
        self._check_open()
        started, game = before or (0, "")
        texts = [text for text in (wanted.player, wanted.result) if text is not None]
        if not all(map(can_be_recorded, (*texts, wanted.id_prefix, game))):
            return []  # no engine could store it
        if type(started) is not int or started < 0:
            return []  # from a damaged store
        return self._catalogue(wanted, clamp(limit), before and (clamp(started), game))

    def document(self, name: str) -> Document | None:
        """Return a document; None if it doesn't exist."""
        return next(iter(self.documents_named((name,))), None)

    def documents_named(
        self, names: Iterable[str], on_damage: OnDamage | None = None
    ) -> tuple[Document, ...]:
        """Return the documents that exist; a damaged one is raised, or passed to `on_damage`."""
        self._check_open()
        rows = self._documents([check_id(name, "document") for name in names])
        return _sound_documents(rows, on_damage)

    def write_document(self, name: str, text: str, *, expected: int, label: str = "") -> Document:
        """Write a document after its revision `expected`, 0 for a new one."""
        write = Write(name, text, expected=expected, label=label)
        self.record((write,))
        if write.refusal:
            raise write.refusal
        return write.document

    def labelled(
        self, label: str, limit: int = 50, on_damage: OnDamage | None = None
    ) -> tuple[Document, ...]:
        """Return the documents with a label, the last changed first."""
        self._check_open()
        return _sound_documents(self._labelled(check_id(label, "label"), clamp(limit)), on_damage)

    def changed_documents(
        self, after: str = "", limit: int = PAGE_ROWS
    ) -> tuple[tuple[Document, ...], str]:
        """Return the documents changed after a cursor, each as it is now, and the cursor after them."""
        return self._page("documents", check_row, after, limit)

    def documents_end(self) -> str:
        self._check_open()
        return self._feed_end("documents")

    def _page(
        self, table: Table, check: Callable[[Any], Item], after: str, limit: int
    ) -> tuple[tuple[Item, ...], str]:
        self._check_open()
        if type(after) is not str:
            raise not_a_cursor(after)
        rows, cursor = self._feed(table, after, clamp(limit))
        return tuple(map(check, rows)), cursor

    def watch(self, game: str, after: int = 0) -> Watch:
        """Watch a game from a version on."""
        check_id(game)

        def read(version: int) -> tuple[tuple[Record, ...], int]:
            found = self.read(game, version) or self.read(game, max(1, version))  # raises if deleted
            return found, found[-1].next_version if found else version

        return Watch(read, after, self._subscribe(game))

    def watch_all(self, after: str = "") -> Watch:
        """Watch the feed of all games from a cursor on."""
        return Watch(self.feed, after, self._subscribe())

    def changes(self) -> Subscription:
        """Subscribe to the ids of games and names of documents that other processes change."""
        return self._subscribe(only_others=True)

    def _subscribe(self, name: str | None = None, *, only_others: bool = False) -> Subscription:
        self._check_open()
        subscription = self._wakeups.subscribe(name, only_others=only_others)
        self._listen()
        return subscription

    @abstractmethod
    def checkpoint(self) -> None:
        """Make a checkpoint (`checkpoints.py`), if the store outlives the process."""

    def parts(self) -> Sequence[EventStore]:
        """Return the stores that this one consists of."""
        return (self,)

    def integrity_errors(self) -> Iterator[str]:
        """Return the faults that the engine finds in its own structures."""
        return iter(())

    def checkpoint_errors(self) -> Iterator[str]:
        """Return what is missing or different according to the checkpoint."""
        return iter(())

    def check(self) -> None:
        """Raise an error if the store can't be read."""
        self.feed_end()

    def close(self) -> None:
        """Release everything; what was appended is durable already."""
        if not self._is_closed:
            self._is_closed = True
            try:
                self._wakeups.notify(ANYTHING, is_own=False)
                self._group.record((), alone=lambda _items: None)  # waits for the commit in progress
            finally:
                self._close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailable("the store is closed")

    def _record(self, items: Sequence[Append | Write]) -> None:
        appends = [item for item in items if isinstance(item, Append)]
        self._write(Batch(appends, [item for item in items if isinstance(item, Write)]))

    def _write(self, batch: Batch) -> None:
        self._check_open()
        self._commit(batch)
        if self._wakeups.are_wanted:
            names = {append.game for append in batch.appends}
            names.update(write.document.name for write in batch.writes)
            self._wakeups.notify(names, is_own=True)

    def _summary(self, row: CatalogueRow) -> GameSummary | None:
        try:
            records = self._records(row.game, 0)
            check_chain(records)
            if records and records[0].is_deletion:
                return None
            game = fold(event for record in records for event in record.events)
        except CorruptStore:
            return GameSummary(row.game, row.started, fault=DAMAGED)
        except RecordError:
            return GameSummary(row.game, row.started, fault=AGAINST_THE_RULES)
        if game is None or row.started != records[0].at:
            return GameSummary(row.game, row.started, fault=DAMAGED)
        return GameSummary(row.game, row.started, records[-1].next_version, game, records[-1].at)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What an engine implements.

    @abstractmethod
    def _commit(self, batch: Batch) -> None:
        """Judge a batch and make it durable in one commit; one thread at a time calls this."""

    @abstractmethod
    def _cover(self, game: str) -> None:
        """Make sure that the checkpoint covers a game before it is deleted."""

    @abstractmethod
    def _records(self, game: str, after: int) -> list[Record]:
        """Read a game's records in order, from the last one on that begins before a version."""

    def _records_of_many(self, after: Mapping[str, int]) -> dict[str, list[Record]]:
        return {game: self._records(game, version) for game, version in after.items()}

    @abstractmethod
    def _heads(self, games: Sequence[str]) -> dict[str, Head]: ...

    @abstractmethod
    def _feed(self, table: Table, after: str, limit: int) -> tuple[list[Any], str]:
        """Read the rows after a cursor, records with the previous hash; and the next cursor."""

    @abstractmethod
    def _feed_end(self, table: Table) -> str: ...

    @abstractmethod
    def _catalogue(self, wanted: GameFilter, limit: int, before: Start | None) -> list[CatalogueRow]: ...

    @abstractmethod
    def _documents(self, names: Sequence[str]) -> list[DocumentRow]: ...

    @abstractmethod
    def _labelled(self, label: str, limit: int) -> list[DocumentRow]: ...

    @abstractmethod
    def _listen(self) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...


def pages(read: Callable[[str, int], tuple[Sequence[Item], str]], limit: int) -> Iterator[Sequence[Item]]:
    """Read page by page up to the first incomplete one, so that it ends even if others keep writing."""
    seen, cursor, is_last = set[str](), "", False
    while not is_last:
        found, cursor = read(cursor, limit)
        is_last = len(found) < limit
        if not is_last:
            check_progress(cursor, seen)
        yield found


def check_progress(cursor: str, seen: set[str]) -> None:
    """Refuse a cursor that was seen before: in a damaged store that would never end."""
    if cursor in seen:
        raise CorruptStore("the store is damaged: its rows are out of order")
    seen.add(cursor)


def all_rows(store: EventStore, limit: int, wanted: GameFilter = ALL_GAMES) -> Iterator[CatalogueRow]:
    before = None
    while page := store.catalogue(wanted, limit, before):
        yield from page
        before = page[-1].start


def _sound_documents(rows: Iterable[DocumentRow], on_damage: OnDamage | None) -> tuple[Document, ...]:
    documents = []
    for row in rows:
        try:
            documents.append(check_row(row))
        except CorruptStore as error:
            if on_damage is None:
                raise
            on_damage(str(row[0]), error)
    return tuple(documents)
