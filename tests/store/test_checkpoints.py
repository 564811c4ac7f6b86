"""Checkpoints: made on close, on backup and every minute, never backwards, and needed to delete."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

import psycopg
import pytest

from noughts.store import sql, sqlite_schema, verify as verifying
from noughts.store.backups import backup, restore
from noughts.store.base import EventStore, Table
from noughts.store.checkpoints import Checkpoint, CheckpointFile
from noughts.store.errors import CorruptStore, NoSuchGame, StaleVersion, StoreUnavailable
from noughts.store.postgres import PostgresStore
from noughts.store.records import sum_hashes
from noughts.store.sqlite import SQLiteStore
from noughts.store.urls import open_store
from noughts.store.verify import examine, verify
from support.at_once import in_threads
from support.damages import Place, faults_of
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import DRAW, NOW, X_WINS, feed_of, fill, game_of, play


def checkpoints(store: EventStore) -> list[Checkpoint]:
    """Return the last checkpoint of a store, and its copy if it keeps one."""
    assert isinstance(store, sql.SQLStore)
    return [*store.last_checkpoints()]


def last_of(url: str) -> Checkpoint:
    with open_store(url) as store:
        return checkpoints(store)[0]


def test_closing_a_store_counts_everything(url: str) -> None:
    """Records, their hashes and the documents; a store that is only read leaves it as it is."""
    assert last_of(url) == Checkpoint()
    with open_store(url) as store:
        fill(store)
        store.write_document("one", "text", expected=0)
        store.write_document("two", "text", expected=0)
        records = feed_of(store)
        end, documents_end = store.feed_end(), store.documents_end()

    checkpoint = last_of(url)
    assert checkpoint[:2] == (end, len(records))
    assert checkpoint.hashes == sum_hashes(record.hash for record in records)
    assert checkpoint.documents_cursor == documents_end
    assert checkpoint.documents is not None
    assert last_of(url) == checkpoint


def test_a_store_in_use_is_counted_now_and_then(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a thread of its own, without the sum of documents that may still change."""
    monkeypatch.setattr(sql, "CHECKPOINT_INTERVAL_SECONDS", 0.001)
    made = Event()
    engine = SQLiteStore if url.startswith("sqlite:") else PostgresStore
    make = engine._make_checkpoint  # noqa: SLF001 - to know when it was made

    def make_and_say_so(store: sql.SQLStore, *, is_closing: bool = False) -> None:
        make(store, is_closing=is_closing)
        if checkpoints(store)[0].records >= 2:
            made.set()

    monkeypatch.setattr(engine, "_make_checkpoint", make_and_say_so)
    with open_store(url) as store:
        play(store, "game", game_of("5"))
        store.write_document("one", "text", expected=0)
        assert made.wait(LONG_DEADLINE_SECONDS)
        assert checkpoints(store)[0].documents is None


def test_a_checkpoint_never_moves_backwards(sqlite_url: str, tmp_path: Path) -> None:
    """An older copy of a store doesn't get a checkpoint of its own: what is missing stays noticed."""
    path = tmp_path / "games.db"
    with open_store(sqlite_url) as store:
        play(store, "first", game_of(X_WINS))
    older = path.read_bytes()
    with open_store(sqlite_url) as store:
        play(store, "second", game_of(DRAW))
    newest = last_of(sqlite_url)

    path.write_bytes(older)
    with open_store(sqlite_url) as store:
        play(store, "third", game_of("5"))
    assert last_of(sqlite_url)[:3] == newest[:3]
    with open_store(sqlite_url) as store:
        assert any(" of the first " in fault for fault in examine(store).faults)


def test_many_threads_and_stores_count_every_record_once(open_again: Callable[[], EventStore]) -> None:
    one, other = open_again(), open_again()

    def play_and_count(store: EventStore, name: str) -> None:
        for number in range(4):
            play(store, f"{name}-{number}", game_of(DRAW))
            store.checkpoint()
            if number % 2:
                store.delete(f"{name}-{number}", at=NOW)

    outcomes = in_threads(
        *(
            partial(play_and_count, store, f"{name}{each}")
            for each in range(3)
            for name, store in (("a", one), ("b", other))
        )
    )
    assert outcomes == [None] * 6
    one.checkpoint()
    total = 24 * len(game_of(DRAW)) + 12  # a deletion is a record, too
    assert checkpoints(one)[0].records == total
    assert verify(one).games == verify(other).games == 12


def test_a_backup_counts_the_store_and_is_counted(url: str, tmp_path: Path) -> None:
    with open_store(url) as store:
        fill(store)
        backup(store, str(tmp_path / "copy.db"))
        assert checkpoints(store)[0].records == 37
    assert last_of(f"sqlite:{tmp_path / 'copy.db'}").records == 37


# Deleting


def test_a_game_is_deleted_only_at_the_version_that_was_seen(store: EventStore) -> None:
    version = play(store, "game", game_of("5"))
    with pytest.raises(StaleVersion):
        store.delete("game", at=NOW, expected=version - 3)
    assert store.read("game")
    store.delete("game", at=NOW, expected=version)
    with pytest.raises(NoSuchGame):
        store.delete("game", at=NOW, expected=version)


def test_nothing_is_deleted_beyond_the_checkpoint(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an older transaction runs on the server, a new game can't be counted, and so not deleted."""
    monkeypatch.setattr(sql, "COVER_TIMEOUT_SECONDS", 0)
    with open_store(postgres_url) as store, psycopg.connect(postgres_url) as held:
        held.execute("SELECT pg_current_xact_id()")
        play(store, "game", game_of("5"))
        with pytest.raises(StoreUnavailable, match="was played a moment ago: try again later"):
            store.delete("game", at=NOW)
        assert store.read("game")


# Missing and damaged checkpoints


def checkpoint_path(url: str) -> Path:
    return Path(f"{url.removeprefix('sqlite:')}-checkpoint")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "the checkpoint is missing"),
        (b"", "the checkpoint is missing"),
        (b"harm\n", "has changed since it was written"),
        (b"\xff\n", "has changed since it was written"),
    ],
    ids=repr,
)
def test_a_missing_or_damaged_checkpoint_is_reported(
    sqlite_url: str, content: bytes | None, fault: str
) -> None:
    """And it isn't replaced, however long the store is used; nothing is deleted without one."""
    with open_store(sqlite_url) as store:
        fill(store)
    path = checkpoint_path(sqlite_url)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with open_store(sqlite_url) as store:
        play(store, "new", game_of("5"))
        with pytest.raises(CorruptStore, match=fault):
            store.delete("won", at=NOW)
    with open_store(sqlite_url) as store:
        found = examine(store)
    assert len(found.faults) == 1
    assert fault in found.faults[0]
    assert found.games == 7


def test_a_checkpoint_of_another_store_does_not_count(sqlite_url: str, tmp_path: Path) -> None:
    for name in ("games.db", "other.db"):
        with open_store(f"sqlite:{tmp_path / name}") as store:
            fill(store)
    checkpoint_path(sqlite_url).write_bytes((tmp_path / "other.db-checkpoint").read_bytes())
    with open_store(sqlite_url) as store, pytest.raises(CorruptStore, match="the checkpoint is missing"):
        verify(store)


@pytest.mark.parametrize("is_empty", [True, False])
def test_no_new_store_takes_the_place_of_one_that_is_gone(
    sqlite_url: str, tmp_path: Path, *, is_empty: bool
) -> None:
    """Its checkpoint says how much is missing, and stays as it was."""
    with open_store(sqlite_url) as store:
        fill(store)
    (tmp_path / "games.db").unlink()
    if is_empty:
        (tmp_path / "games.db").touch()
    before = checkpoint_path(sqlite_url).read_bytes()
    for create in (True, False, True):
        with pytest.raises(CorruptStore, match=r"is gone.*its checkpoint counts 37 records"):
            open_store(sqlite_url, create=create)
    assert checkpoint_path(sqlite_url).read_bytes() == before
    checkpoint_path(sqlite_url).unlink()
    with open_store(sqlite_url) as store:
        assert feed_of(store) == []


# A copy of the checkpoint of a database


def test_a_file_keeps_a_copy_of_the_checkpoint_of_a_database(postgres_url: str, tmp_path: Path) -> None:
    """So a database that was set back, with its own checkpoint, is noticed, however long it is used."""
    file = tmp_path / "checkpoint"
    with open_store(postgres_url, checkpoint_file=str(file)) as store:
        play(store, "first", game_of(X_WINS))
        store.checkpoint()
        (before,) = CheckpointFile(file).read().values()
        play(store, "second", game_of(DRAW))
    (after,) = CheckpointFile(file).read().values()
    assert before.records < after.records

    update = "UPDATE noughts_checkpoint SET (cursor, records, hashes) = (?, ?, ?)"
    Place(postgres_url).remove_games(["second"])
    Place(postgres_url).do((update, before.cursor, before.records, f"{before.hashes:x}"))
    with open_store(postgres_url) as store:
        verify(store)
    with open_store(postgres_url, checkpoint_file=str(file)) as store:
        with pytest.raises(CorruptStore, match=r"\d+ of the first \d+ records are missing"):
            verify(store)
        store.checkpoint()
    (last,) = CheckpointFile(file).read().values()
    assert last == after
    for number in range(2):
        with open_store(postgres_url, checkpoint_file=str(file)) as store:
            play(store, f"later{number}", game_of(DRAW))
        with open_store(postgres_url, checkpoint_file=str(file)) as store:
            assert any(" of the first " in fault for fault in examine(store).faults)


def test_a_copy_that_fell_behind_is_carried_on(postgres_url: str, tmp_path: Path) -> None:
    """Others play and delete without the file; it goes on from its own last count."""
    file = str(tmp_path / "checkpoint")
    with open_store(postgres_url, checkpoint_file=file) as store:
        play(store, "first", game_of(X_WINS))
    with open_store(postgres_url) as other:
        play(other, "second", game_of(DRAW))
        other.checkpoint()
        other.delete("second", at=NOW)
        other.delete("first", at=NOW)
    with open_store(postgres_url, checkpoint_file=file) as store:
        verify(store)
        store.checkpoint()
        verify(store)
        table, copy = (one[:3] for one in checkpoints(store))
        assert table == copy


# What happens while it is made


def test_documents_are_summed_even_if_a_checkpoint_came_before_the_close(url: str) -> None:
    """So a document that is removed after a clean close is always noticed."""
    with open_store(url) as store:
        store.write_document("one", "text", expected=0)
        store.checkpoint()
    assert last_of(url).documents is not None


def test_a_checkpoint_that_failed_is_made_at_close(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreUnavailable("the disk is full")

    with open_store(url) as store:
        play(store, "game", game_of("5"))
        with monkeypatch.context() as full:
            full.setattr(store, "_count", fail)
            with pytest.raises(StoreUnavailable, match="the disk is full"):
                store.checkpoint()
    assert last_of(url).records == len(game_of("5"))


@pytest.mark.parametrize("moment", ["_count", "_sum_documents", "_select"])
def test_a_game_that_is_deleted_while_it_is_counted_is_no_loss(
    url: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    with open_store(url) as store:
        for number in range(9):
            play(store, f"game{number}", game_of("5"))
            store.write_document(f"game{number}", "text", expected=0)
    with open_store(url) as other, open_store(url) as store:
        games = iter(range(9))
        real = getattr(store, moment)

        def delete_first(*arguments: object) -> object:
            if (number := next(games, None)) is not None:
                other.delete(f"game{number}", at=NOW)
            return real(*arguments)

        monkeypatch.setattr(store, moment, delete_first)
        assert list(store.checkpoint_errors()) == []


def test_a_store_behind_a_link_is_the_store_itself(tmp_path: Path) -> None:
    """Its checkpoint and its log lie beside the file, not beside the link."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "there" / "games.db")
    url = f"sqlite:{tmp_path / 'link.db'}"
    with open_store(url) as store:
        fill(store)
    with open_store(url) as store:
        verify(store)
        store.delete("won", at=NOW)
    assert {path.name for path in tmp_path.iterdir()} == {"there", "link.db"}


@pytest.mark.parametrize("table", ["records", "games", "documents", "store"])
def test_a_missing_table_is_listed(url: str, table: str) -> None:
    with open_store(url) as store:
        fill(store)
    Place(url).do(f"DROP TABLE noughts_{table}")
    assert any(f"noughts_{table}" in fault for fault in faults_of(url))


# Threads that look while others write


def test_a_file_that_grows_while_it_is_looked_at_is_not_lost(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may note the new size before this one compares."""
    with SQLiteStore(sqlite_url.removeprefix("sqlite:")) as store:
        fill(store)
        look = sqlite_schema.look

        def grow_afterwards(path: str) -> object:
            found = look(path)
            monkeypatch.setattr(sqlite_schema, "look", look)
            store._size += 4096  # noqa: SLF001 - as the other thread does
            return found

        monkeypatch.setattr(sqlite_schema, "look", grow_afterwards)
        store._check_place()  # noqa: SLF001 - at this very moment
        store._size -= 4096  # noqa: SLF001 - it has not really grown
        assert store.games()


def test_a_restored_store_never_gets_what_was_kept_of_another(sqlite_url: str, tmp_path: Path) -> None:
    with open_store(sqlite_url) as store:
        fill(store)
        backup(store, str(tmp_path / "copy.db"))
    (tmp_path / "games-replaced.db-wal").write_bytes(b"left from a store that was gone")

    restored = restore(str(tmp_path / "copy.db"), sqlite_url)

    assert restored.replaced == tmp_path / "games-replaced-2.db"
    with open_store(f"sqlite:{restored.replaced}") as kept, open_store(sqlite_url) as store:
        assert verify(kept).games == verify(store).games == 6
    assert len(CheckpointFile(checkpoint_path(sqlite_url)).read()) == 1


def test_rows_that_lead_back_come_to_an_end(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged page may say that a row with a small number comes after one with a large number."""
    fill(store)
    feed = store._feed  # noqa: SLF001 - what verify reads

    def lead_back(table: Table, after: str, limit: int) -> tuple[list[object], str]:
        rows, cursor = feed(table, "" if table == "records" else after, limit)
        return rows, cursor

    monkeypatch.setattr(verifying, "PAGE_ROWS", 10)
    monkeypatch.setattr(store, "_feed", lead_back)
    assert any("out of order" in fault for fault in examine(store).faults)


def test_a_copy_that_is_removed_is_reported(postgres_url: str, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint"
    with open_store(postgres_url) as store:
        fill(store)
    with open_store(postgres_url, checkpoint_file=str(file)) as store:
        verify(store)
    file.unlink()
    for _ in range(2):
        with open_store(postgres_url, checkpoint_file=str(file)) as store:
            play(store, f"game{len(store.games())}", game_of("5"))
            assert [fault for fault in examine(store).faults if "the checkpoint is missing" in fault]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (("1", "2", 3, "4", None), "has changed since it was written"),
        ((None, 2, 3, "4", None), "has changed since it was written"),
        (("1", 2, 3, 4, None), "has changed since it was written"),
        (("x", 2, 3, "4", None), "'x' is not a cursor"),
        (("1", 2, 3, "x", None), "'x' is not a cursor"),
    ],
)
def test_an_impossible_checkpoint_is_reported(
    sqlite_url: str, fields: tuple[object, ...], words: str
) -> None:
    """It may have a right hash; a backup is still made."""
    with SQLiteStore(sqlite_url.removeprefix("sqlite:")) as store:
        file = sqlite_schema.checkpoint_file(Path(sqlite_url.removeprefix("sqlite:")))
        file.write({next(iter(file.read())): Checkpoint(*fields)})  # type: ignore[arg-type]  # on purpose
        (fault,) = examine(store).faults
        with pytest.raises(CorruptStore, match=words):
            store.checkpoint()
        backup(store, f"{sqlite_url.removeprefix('sqlite:')}-copy")
    assert words in fault


def test_a_checkpoint_keeps_its_mode(sqlite_url: str) -> None:
    path = checkpoint_path(sqlite_url)
    with open_store(sqlite_url) as store:
        path.chmod(0o660)
        before = path.stat()
        fill(store)
    after = path.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid) == (before.st_mode, before.st_uid)
