"""Copies of a whole store: backup, restore and repair."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, NamedTuple

from noughts.core.errors import RecordError, quoted
from noughts.core.game import replay
from noughts.files import copy_owner
from noughts.store import sqlite_schema as schema
from noughts.store.appends import Append, CatalogueRow
from noughts.store.archive import append_again
from noughts.store.base import ALL_GAMES, PAGE_ROWS, EventStore, Progress, all_rows, pages
from noughts.store.checkpoints import MISSING_CHECKPOINT
from noughts.store.documents import check_row
from noughts.store.errors import CorruptStore, InvalidId, OldStore, StoreUnavailable
from noughts.store.files import beside, free_name, lock_out, sync_folder
from noughts.store.records import Record, check_chain
from noughts.store.salvage import check_repairable, salvage
from noughts.store.sqlite import SQLiteStore
from noughts.store.urls import open_store, sqlite_path
from noughts.store.verify import catalogue_row, examine


class Copied(NamedTuple):
    games: int
    events: int


class Restored(NamedTuple):
    copied: Copied
    replaced: Path | None
    """Where the previous store was moved."""
    warnings: tuple[str, ...]


class Repaired(NamedTuple):
    copied: Copied
    left_behind: tuple[str, ...]


def backup(store: EventStore, target: str, progress: Progress = lambda _share: None) -> Copied:
    """Copy a store to a new SQLite file; documents are copied last, and may be newer than the games."""
    with suppress(CorruptStore, StoreUnavailable):  # a store without a checkpoint needs a backup, too
        store.checkpoint()
    with _new_store(Path(target).absolute()) as copy:
        return _copy(store, copy, progress)


def restore(
    file: str, url: str, progress: Progress = lambda _share: None, *, checkpoint_file: str = ""
) -> Restored:
    """Replace a store in a file by a backup, or copy one into an empty database."""
    check_repairable(url)
    with open_store(f"sqlite:{file}", create=False) as source:
        faults = examine(source, lambda share: progress(share / 2)).faults
        warnings = tuple(fault for fault in faults if fault.startswith(MISSING_CHECKPOINT))
        for fault in faults:
            if fault not in warnings:
                raise CorruptStore(f"{file} is damaged, and was not restored: {fault}")
        if path := sqlite_path(url):
            _check_replaceable(path, file)
            new = beside(path, ".restored")
            _remove(new, beside(new, ".partial"))  # left from an interrupted one
            try:
                with _new_store(new) as copy:
                    copied = _copy(source, copy, lambda share: progress((1 + share) / 2))
                return Restored(copied, _put_in_place(new, path), warnings)
            finally:
                _remove(new)
        with open_store(url, checkpoint_file=checkpoint_file) as target:
            return Restored(_import(source, target), None, warnings)


def _check_replaceable(path: Path, file: str) -> None:
    """Refuse to replace the backup itself, another program's file, or a newer store."""
    if not path.exists():
        return
    if path.samefile(file):
        raise StoreUnavailable(f"{file} is the store itself: restore a backup of it")
    with path.open("rb") as store:
        is_database = store.read(len(schema.MAGIC)) == schema.MAGIC
    if is_database:  # anything else may be a damaged store
        with suppress(OldStore):
            schema.check_header(path)


def repair(url: str, target: str, progress: Progress = lambda _share: None) -> Repaired:
    """Copy all sound games and documents to a new SQLite file; list the rest."""
    left_behind: list[str] = []
    damaged: set[str] = set()
    games, events = 0, 0
    with _new_store(Path(target).absolute()) as copy:
        waiting: list[Append] = []
        for appends in _sound_games(url, left_behind, damaged, progress):
            games, events = games + 1, events + appends[-1].expected + appends[-1].count
            waiting += appends
            if len(waiting) >= PAGE_ROWS:
                copy.restore(waiting)
                waiting.clear()
        copy.restore(waiting)
        for row in salvage(url, "documents", left_behind):
            try:
                if row[0] not in damaged:
                    copy.restore((), [check_row(row)])
            except CorruptStore as error:
                left_behind.append(str(error))
        if not games and left_behind:
            raise CorruptStore(f"nothing can be repaired: {left_behind[0]}")
    return Repaired(Copied(games, events), tuple(left_behind))


def survey(url: str, progress: Progress = lambda _share: None) -> Repaired:
    """Return what a repair would, without copying anything."""
    left_behind: list[str] = []
    last = [appends[-1] for appends in _sound_games(url, left_behind, set(), progress)]
    return Repaired(Copied(len(last), sum(one.expected + one.count for one in last)), tuple(left_behind))


def _sound_games(
    url: str, left_behind: list[str], damaged: set[str], progress: Progress
) -> Iterator[list[Append]]:
    """Return the appends of each sound game; add others to `damaged`, with a reason in `left_behind`."""
    rows = sorted(salvage(url, "records", left_behind), key=_place)
    listed = {row[0]: CatalogueRow._make(row) for row in salvage(url, "games", left_behind)}
    read = 0
    for game, found in groupby(rows, key=lambda row: row[0]):
        records = [*map(Record._make, found)]
        read += len(records)
        progress(read / len(rows))
        try:
            check_chain(records)
            if not records[0].is_deletion:
                replay(event for record in records for event in record.events)
                _check_end(records, listed.get(game))
                yield [append_again(record) for record in records]
        except (CorruptStore, RecordError, InvalidId) as error:
            damaged.add(game)
            left_behind.append(f"game {quoted(game)}: {error}")
    gone = listed.keys() - {row[0] for row in rows}
    left_behind += (f"game {quoted(game)}: all its records are missing" for game in sorted(gone, key=str))


def _check_end(records: Sequence[Record], row: CatalogueRow | None) -> None:
    found = catalogue_row(records)
    if row and found and any(known and not own for known, own in zip(row[2:], found[2:], strict=True)):
        raise CorruptStore("its last records are missing")


def _place(row: Sequence[Any]) -> tuple[str, int]:
    """Return the sort key of a row that may be damaged."""
    return str(row[0]), row[1] if isinstance(row[1], int) else -1


@contextmanager
def _new_store(path: Path) -> Iterator[SQLiteStore]:
    """Create a store in a new file, and rename it when it is complete."""
    partial = beside(path, ".partial")
    if path.exists():
        raise StoreUnavailable(f"{path} exists: backup and repair never overwrite a file")
    for left, of in ((partial, "an interrupted copy"), (beside(path, "-wal"), "another store")):
        if left.exists():
            raise StoreUnavailable(f"{left} is left from {of}: remove it first")
    _remove(partial)  # its log, journal and checkpoint
    try:
        with SQLiteStore(str(partial)) as copy:
            yield copy
        _join_checkpoints(partial, path)
        _rename(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"the copy {path} can't be written: {error.strerror}") from error
    finally:
        _remove(partial)


def _remove(*files: Path) -> None:
    for file in files:
        for ending in ("", "-wal", "-shm", "-journal", "-checkpoint"):
            with suppress(OSError):
                beside(file, ending).unlink()


def _rename(partial: Path, path: Path) -> None:
    """Rename a file without overwriting another one, if the disk has hard links."""
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        raise
    except OSError:
        partial.rename(path)


def _copy(store: EventStore, copy: EventStore, progress: Progress = lambda _share: None) -> Copied:
    versions: dict[str, int] = {}
    games = 0
    with suppress(CorruptStore):  # a damaged catalogue is copied too
        games = sum(1 for _ in all_rows(store, PAGE_ROWS))
    for found in pages(store.feed, PAGE_ROWS):
        copy.restore([append_again(record) for record in found if not record.is_deletion])
        for record in found:
            if not record.is_deletion:
                versions[record.game] = record.next_version
            elif versions.pop(record.game, None):  # deleted while it was copied
                copy.delete(record.game, at=record.at)
        progress(min(1, len(versions) / (games or 1)))
    for game in versions.keys() - store.versions(versions).keys():  # deleted, but not in the feed yet
        copy.delete(game, at=0)
        del versions[game]
    for documents in pages(store.changed_documents, PAGE_ROWS):  # one that changes comes again
        copy.restore((), documents)
    return Copied(len(versions), sum(versions.values()))


def _import(source: EventStore, target: EventStore) -> Copied:
    if target.feed_end() or target.documents_end() or target.catalogue(ALL_GAMES, 1):
        raise StoreUnavailable("the store is not empty: restore a backup into an empty database")
    records = [record for found in pages(source.feed, PAGE_ROWS) for record in found]
    kept = [record for record in records if not record.is_deletion]
    documents = [document for found in pages(source.changed_documents, PAGE_ROWS) for document in found]
    target.restore([*map(append_again, kept)], documents)
    return Copied(len({record.game for record in kept}), sum(len(record.events) for record in kept))


def _put_in_place(new: Path, path: Path) -> Path | None:
    """Replace a store by a new one, and keep the old one under another name.

    The old one is copied, as a SQLite file must not have two names. Then one step replaces it. The
    checkpoint file has the lines of both stores, so each has its own before and after that step.
    """
    try:
        if schema.in_use[schema.identity(path)]:
            raise StoreUnavailable(f"this process has the store {path} open: close it first")
        is_gone = not schema.has_content(path)
        kept, file = free_name(path, "replaced"), schema.checkpoint_file(path)
        with ExitStack() as stack:
            if not is_gone:
                _keep(stack.enter_context(_locked(path)), kept)
            for ending in ("-wal", "-checkpoint"):
                if (other := beside(path, ending)).exists() and other.stat().st_size:
                    with other.open("rb") as left:
                        _keep(left, beside(kept, ending))
            _join_checkpoints(new, path)
            if not is_gone:
                copy_owner(path, new)
                copy_owner(path, file.path)
            for ending in ("-wal", "-shm"):  # the log of the old one must not reach the new one
                beside(path, ending).unlink(missing_ok=True)
            new.replace(path)
            sync_folder(path.parent)
            with file.locked():
                file.write(schema.checkpoint_file(new).read())
    except OSError as error:
        raise StoreUnavailable(f"the store {path} can't be replaced: {error.strerror}") from error
    return None if is_gone and not beside(kept, "-wal").exists() else kept


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    with suppress(sqlite3.Error), closing(schema.connect(path)) as store:
        store.execute("SELECT count(*) FROM sqlite_schema")  # closing it empties a log that was left
    with path.open("r+b") as file:
        if not lock_out(file, path):
            raise StoreUnavailable(f"the store {path} was moved meanwhile")
        yield file


def _join_checkpoints(new: Path, path: Path) -> None:
    file = schema.checkpoint_file(path)
    with file.locked():
        try:
            kept = file.read()
        except CorruptStore:
            kept = {}
        file.write({**kept, **schema.checkpoint_file(new).read()})


def _keep(file: BinaryIO, target: Path) -> None:
    """Copy an open file, which stays open."""
    partial = beside(target, ".partial")
    with partial.open("wb") as copy:
        copyfileobj(file, copy, 1 << 20)
        copy.flush()
        os.fsync(copy.fileno())
    copy_owner(Path(file.name), partial)
    partial.replace(target)
