"""Notes that are changed behind the store's back, and writers that are cut off: all of it is noticed."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from random import Random
from typing import TYPE_CHECKING

import psycopg
import pytest

from at_once import DEADLINE
from failing_disk import Disk, Outage
from noughts import events
from noughts.core.errors import CorruptStore, NotAStore, NoughtsError, StaleVersion, StoreUnavailable
from noughts.store.notes import Draft, Note
from noughts.store.opening import open_store
from noughts.store.sqlite import SQLiteStore
from noughts.store.verifying import verify
from played import NOW
from postgres_proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postgres_server import Server

LONG = bool(os.environ.get("NOUGHTS_TORTURE"))


# What was changed


def do(url: str, statement: str, *values: object) -> None:
    """Change something with the tools of the database; the table is called as SQLite has it."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as database:
            database.execute(statement, values)
            database.commit()
    else:
        with psycopg.connect(url) as connection:
            theirs = statement.replace("notes", "noughts_notes").replace("?", "%s")
            connection.execute(theirs.encode(), values or None)


@pytest.fixture
def noted(url: str) -> str:
    """Return a place with a few notes."""
    with open_store(url) as store:
        store.write_notes([Draft(f"n{number}", "text", expected=0, shelf="open") for number in range(5)])
    return url


CHANGES = {
    "the text": "text = text || 'x'",
    "its case": "text = 'Text'",
    "the shelf": "shelf = 'closed'",
    "the revision": "revision = revision + 1",
    "the change": "change = change + 100",
    "the hash": "hash = (SELECT hash FROM notes WHERE name = 'n1')",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_note_is_neither_read_nor_written(noted: str, what: str) -> None:
    """It is named; all other notes are read and written as before, also in the same commit."""
    do(noted, f"UPDATE notes SET {CHANGES[what]} WHERE name = 'n3'")  # noqa: S608 - the above
    with open_store(noted) as store:
        attempts: list[Callable[[], object]] = [
            lambda: store.note("n3"),
            store.changed_notes,
            lambda: store.write_note("n3", "new", expected=1),
            lambda: verify(store),
        ]
        if what != "the shelf":
            attempts.append(lambda: store.notes("open"))
        for attempt in attempts:
            with pytest.raises(CorruptStore, match="note 'n3' has changed since it was written"):
                attempt()
        drafts = [Draft("n3", "new", expected=1), Draft("n4", "new", expected=1)]
        store.write_notes(drafts)
        assert isinstance(drafts[0].refusal, CorruptStore)
        assert store.note("n4") == drafts[1].note
        assert store.note("n2") == Note("n2", 1, 3, "open", "text")


def test_a_renamed_note_is_noticed(noted: str) -> None:
    """By whoever comes upon it: under its own name there is none any more."""
    do(noted, "UPDATE notes SET name = 'another' WHERE name = 'n3'")
    with open_store(noted) as store:
        with pytest.raises(CorruptStore, match="note 'another' has changed since it was written"):
            store.note("another")
        with pytest.raises(CorruptStore, match="first note after change 3: note 'another' has changed"):
            verify(store)


@pytest.mark.parametrize("kind", ["CAST(text AS BLOB)", "CAST(x'FF' AS TEXT)"])
def test_a_text_that_is_no_text_any_more_is_noticed(sqlite_url: str, kind: str) -> None:
    """SQLite keeps values of any kind in any column."""
    with open_store(sqlite_url) as store:
        store.write_note("note", "text", expected=0)
    do(sqlite_url, f"UPDATE notes SET text = {kind}")  # noqa: S608 - the above
    with open_store(sqlite_url) as store:
        with pytest.raises(CorruptStore):
            store.note("note")
        with pytest.raises(CorruptStore, match="first note after change 0"):
            verify(store)


def test_a_number_that_is_no_number_any_more_is_noticed(sqlite_url: str) -> None:
    """Though it would read the same."""
    with open_store(sqlite_url) as store:
        store.write_note("note", "text", expected=0)
    do(sqlite_url, "UPDATE notes SET revision = x'31'")
    with open_store(sqlite_url) as store, pytest.raises(CorruptStore, match="note 'note' has changed"):
        store.note("note")


def test_changes_without_an_end_are_noticed(noted: str) -> None:
    """A change that was damaged to be the last there can be: nothing could be written after it."""
    do(noted, "UPDATE notes SET change = ? WHERE name = 'n3'", 2**63 - 1)
    with open_store(noted) as store:
        with pytest.raises(CorruptStore, match="the notes are damaged: their last change is said to be"):
            store.write_note("new", "text", expected=0)
        store.append("game", [events.GameReady()], expected=0, key="key", at=NOW)
        assert len(store.feed()) == 1


ALL_NOTES = "SELECT name, revision, change, shelf, text, hash FROM notes NOT INDEXED ORDER BY change"


def notes_in(path: Path) -> list[tuple[object, ...]] | None:
    """Read all notes with SQLite alone; None if they cannot be read."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        try:
            return connection.execute(ALL_NOTES).fetchall()
        except (sqlite3.Error, UnicodeError):
            return None


def is_noticed(path: Path) -> bool:
    """Tell whether a store on that file is refused, or found to be bad by looking through it."""
    try:
        with SQLiteStore(str(path), create=False) as store:
            verify(store)
    except (CorruptStore, NotAStore, StoreUnavailable) as refusal:
        assert str(refusal)
        return True
    return False


@pytest.mark.torture
def test_a_flipped_bit_that_changes_a_note_is_noticed(tmp_path: Path) -> None:
    """Wherever in the file it is: in a text, in a name, or in what SQLite keeps of them."""
    chance = Random(0)
    path = tmp_path / "games.db"
    with SQLiteStore(str(path)) as store:
        store.write_notes(
            [Draft(f"note-{n}", chance.randbytes(60).hex(), expected=0, shelf="open") for n in range(150)]
        )
        store.write_notes([Draft(f"note-{n}", "new", expected=1) for n in range(0, 150, 7)])
    sound, notes = path.read_bytes(), notes_in(path)
    assert notes
    assert not is_noticed(path), "a store nobody touched is sound"
    flips, missed = 0, []
    while flips < (500 if LONG else 50):
        flipped = bytearray(sound)
        place, bit = chance.randrange(len(sound)), chance.randrange(8)
        flipped[place] ^= 1 << bit
        path.write_bytes(flipped)
        has_changed = notes_in(path) != notes
        if is_noticed(path) < has_changed:
            missed.append((place, bit))
        flips += has_changed
        for beside in tmp_path.glob("games.db-*"):
            beside.unlink()
    assert missed == []


# Whoever is cut off


# Writes the next revision of a few notes without end, and tells of each what it was told.
WRITER = f"""
import os, sys
from threading import Thread
sys.path[:0] = {sys.path!r}
from noughts.store.opening import open_store

store = open_store(sys.argv[1])

def write(name):
    note = store.note(name)
    revision = note.revision if note else 0
    while True:
        written = store.write_note(name, f"text {{revision}}", expected=revision, shelf="open")
        revision = written.revision
        os.write(1, f"{{name}} {{revision}} {{written.change}}\\n".encode())

for number in range(4):
    Thread(target=write, args=(f"n{{number}}",)).start()
"""


@pytest.mark.torture
def test_a_killed_process_loses_no_note(url: str) -> None:
    """SIGKILL at any moment leaves every note at the revision that was told, or one beyond it."""
    chance = Random(0)
    told: dict[str, tuple[int, int]] = {}
    for _ in range(50 if LONG else 3):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout
            lines = [writer.stdout.readline() for _ in range(chance.randrange(20, 60))]
            writer.kill()
            lines += writer.stdout
        assert writer.returncode == -signal.SIGKILL
        for name, *numbers in map(str.split, lines):
            revision, change = map(int, numbers)
            assert revision > told.get(name, (0, 0))[0], "a revision was told twice"
            told[name] = revision, change
        with open_store(url, create=False) as store:
            verify(store)
            for name, (revision, change) in told.items():
                note = store.note(name)
                assert note
                assert (note.revision, note.change) == (revision, change) or note.revision == revision + 1
                assert note.text == f"text {note.revision - 1}"
                told[name] = note.revision, note.change  # the next writer goes on from here


@pytest.mark.torture
def test_a_power_cut_loses_no_note(tmp_path: Path) -> None:
    """Whatever the disk had written by then, every note is as it was told, or as it was told next."""
    chance = Random(0)
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    with (
        disk.watching_folder(),
        SQLiteStore(str(folder / "games.db"), open_file=disk.opener(checkpoint=16)) as store,
    ):
        version = 0
        for number in range(60):
            name, revision = f"n{number % 5}", number // 5
            disk.mark(store.write_note(name, "x" * chance.randrange(3000), expected=revision))
            if chance.random() < 0.3:
                version = store.append(
                    "game", [events.GameReady()], expected=version, key=f"k{version}", at=NOW
                )
    disk.close()
    outage = Outage(disk)
    told: list[Note] = []
    for moment in sorted(chance.choices(range(len(disk.log) + 1), k=300 if LONG else 30)):
        told += (mark for mark in outage.go_on(moment) if isinstance(mark, Note))
        left = tmp_path / "left"
        left.mkdir()
        for name, content in outage.left(chance).items():
            (left / name).write_bytes(content)
        with SQLiteStore(str(left / "games.db")) as store:
            verify(store)
            found = {note.name: note for note in store.changed_notes()}
            assert store.last_change() in (len(told), len(told) + 1)
            for note in {note.name: note for note in told}.values():
                now = found[note.name]
                assert now == note or (now.revision, now.change) == (note.revision + 1, len(told) + 1)
        shutil.rmtree(left)


# Two processes want the same revisions of one note; each tells what it was given.
RIVAL = f"""
import sys
sys.path[:0] = {sys.path!r}
from noughts.core.errors import StaleVersion
from noughts.store.opening import open_store

url, me, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open_store(url) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    won, note = [], None
    while note is None or note.revision < rounds:
        try:
            note = store.write_note("note", me, expected=note.revision if note else 0)
            won.append(note.revision)
        except StaleVersion:
            note = store.note("note")
print(*won, flush=True)
"""


@pytest.mark.torture
def test_one_of_two_processes_wins_each_revision(url: str) -> None:
    """No revision is won twice, and none by nobody."""
    rounds = 500 if LONG else 50
    open_store(url).close()
    with ExitStack() as stack:
        rivals = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", RIVAL, url, me, str(rounds)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for me in ("one", "two")
        ]
        for rival in rivals:
            assert rival.stdout
            assert rival.stdout.readline() == "ready\n"
        for rival in rivals:
            assert rival.stdin
            rival.stdin.write("go\n")
            rival.stdin.flush()
        won = [rival.communicate(timeout=DEADLINE)[0] for rival in rivals]

    revisions = sorted(int(revision) for line in won for revision in line.split())
    assert revisions == list(range(1, len(revisions) + 1))
    assert len(revisions) >= rounds


def is_commit(message: bytes) -> bool:
    """Tell whether a message ends a transaction."""
    return b"COMMIT" in message


def is_writing(message: bytes) -> bool:
    """Tell whether a message holds the note that is to be written."""
    return b"cut-here" in message


@pytest.mark.parametrize("expected", [0, 1])
@pytest.mark.parametrize(
    ("is_it", "way"),
    [
        (is_commit, "before"),
        (is_commit, "after"),
        (is_commit, "late"),
        (is_writing, "before"),
        (is_writing, "after"),
    ],
)
def test_a_note_whose_outcome_nobody_knows_is_written_once(
    postgres: Server, is_it: Callable[[bytes], bool], expected: int, way: str
) -> None:
    """The line is cut before the server knew, or after it had done it, or both are at it at once."""
    url = postgres.place()
    with (
        Proxy(postgres.folder) as proxy,
        open_store(url.replace(str(postgres.folder), str(proxy.folder))) as store,
    ):
        for revision in range(expected):
            store.write_note("note", "before", expected=revision)
        store.write_note("other", "before", expected=0)
        proxy.cut(is_it, way)
        drafts = [
            Draft("note", "cut-here", expected=expected, shelf="open"),
            Draft("other", "late", expected=0),
            Draft("new", "new", expected=0),
        ]
        store.write_notes(drafts)

        assert proxy.cuts == 1
        assert [type(draft.refusal) for draft in drafts] == [type(None), StaleVersion, type(None)]
        assert drafts[0].note == Note("note", expected + 1, expected + 2, "open", "cut-here")
        assert store.note("note") == drafts[0].note
        assert store.note("new") == drafts[2].note
        assert store.last_change() == expected + 3
        assert store.write_note("note", "after", expected=expected + 1).change == expected + 4
        verify(store)


@pytest.mark.parametrize("way", ["before", "after"])
def test_a_rival_is_refused_also_when_the_line_was_cut(postgres: Server, way: str) -> None:
    """Somebody else took the revision meanwhile, or came too late; either way, one of them has it."""
    url = postgres.place()
    with (
        Proxy(postgres.folder) as proxy,
        open_store(url.replace(str(postgres.folder), str(proxy.folder))) as store,
        open_store(url) as rival,
    ):
        store.write_note("note", "before", expected=0)
        proxy.cut(is_writing, way)
        outcomes: list[object] = []
        for writer, text in ((store, "cut-here"), (rival, "rival")):
            try:
                outcomes.append(writer.write_note("note", text, expected=1))
            except NoughtsError as refusal:
                outcomes.append(type(refusal))

        assert outcomes == [store.note("note"), StaleVersion]
