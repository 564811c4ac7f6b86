"""Stores of the old format: set aside in the user's data folder, and refused anywhere else."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from noughts.cli import old_store
from noughts.cli.old_store import set_aside
from noughts.store.errors import OldStore, StoreUnavailable
from noughts.store.files import sync_folder
from noughts.store.sqlite_schema import APPLICATION
from noughts.store.urls import open_store
from support.command import COMMAND
from support.deadlines import DEADLINE_SECONDS
from support.forked import noughts
from support.saved_games import digits, file, saving, url

SENTENCE = (
    "noughts: {} was made by an older noughts: it is now {}, and a new one is started (to bring its "
    "games over, export them with the version that wrote them, then run noughts store import)\n"
)
ENDINGS = ("", "-wal", "-shm")


def make_old(path: Path, schema: int = 3) -> dict[str, bytes]:
    """Write an old store, with a write-ahead log as a kill leaves it, and return its files by ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name("made")
    with closing(sqlite3.connect(made, isolation_level=None)) as database:
        database.execute("CREATE TABLE events (position INTEGER PRIMARY KEY, event TEXT)")
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {schema}")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("INSERT INTO events (event) VALUES ('precious')")
        for ending in ENDINGS:
            shutil.copy(f"{made}{ending}", f"{path}{ending}")
    made.unlink()
    return files(path)


def files(path: Path) -> dict[str, bytes]:
    """Return the files of a store, by their endings."""
    return {ending: path.with_name(path.name + ending).read_bytes() for ending in ENDINGS}


def events_in(path: Path) -> list[str]:
    """Return the events in an old store."""
    with closing(sqlite3.connect(path)) as database:
        return [event for (event,) in database.execute("SELECT event FROM events")]


COMMANDS = {
    "play": 0,
    "games": 0,
    "resume": 2,
    "replay a": 2,
    "events a": 2,
    "export a": 2,
    "analyse a": 2,
    "store verify": 0,
    "store export": 0,
    "store import /dev/null": 0,
    "serve --bot none=/missing": 2,
}


@pytest.mark.parametrize(("command", "code"), COMMANDS.items())
def test_every_command_sets_an_old_store_aside(command: str, code: int, tmp_path: Path) -> None:
    """Its files are renamed but otherwise untouched; one sentence says so, and the command continues."""
    old = make_old(file(tmp_path))

    ran = noughts(*command.split(), typed="5\nquit\n", env=saving(tmp_path))

    aside = file(tmp_path).with_name("games-old.sqlite")
    assert ran.stderr.startswith(SENTENCE.format(file(tmp_path), aside.name))
    assert ran.returncode == code
    assert files(aside) == old
    assert events_in(aside) == ["precious"]
    assert digits(tmp_path) == (["5"] if command == "play" else [])
    assert noughts("games", env=saving(tmp_path)).stderr == ""


@pytest.mark.parametrize("way", ["--store", "NOUGHTS_STORE"])
def test_an_old_store_that_is_named_is_refused(way: str, tmp_path: Path) -> None:
    """The sentence says what to do, and the file stays where it is."""
    old = make_old(file(tmp_path))
    env = saving(tmp_path, **({way: url(tmp_path)} if way == "NOUGHTS_STORE" else {}))

    ran = noughts("games", *(["--store", url(tmp_path)] if way == "--store" else []), env=env)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        f"noughts: {file(tmp_path)} was made by an older noughts: export its games with that version, "
        "and bring them into a new store with noughts store import\n"
    )
    assert files(file(tmp_path)) == old


def test_no_name_is_taken_twice(tmp_path: Path) -> None:
    """What was set aside before stays."""
    path = tmp_path / "games.sqlite"
    moved = []
    for schema in (1, 2, 3):
        make_old(path, schema)
        moved.append(set_aside(path))

    assert moved == [tmp_path / f"games-old{number}.sqlite" for number in ("", "-2", "-3")]
    assert [events_in(each) for each in moved if each] == 3 * [["precious"]]


@pytest.mark.parametrize("steps", range(5))
def test_an_interrupted_move_is_completed(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the power fails, the next start finds the file in its old place, or in its new one."""
    path = tmp_path / "games.sqlite"
    old = make_old(path)
    left = iter(range(steps))

    def rename(source: Path, target: Path) -> None:
        next(left)
        shutil.move(source, target)

    def sync(folder: Path) -> None:
        next(left)
        sync_folder(folder)

    monkeypatch.setattr(type(path), "rename", rename)
    monkeypatch.setattr(old_store, "sync_folder", sync)
    with pytest.raises(StopIteration):
        set_aside(path)
    monkeypatch.undo()
    with pytest.raises(OldStore):
        open_store(f"sqlite:{path}")

    assert set_aside(path) == tmp_path / "games-old.sqlite"
    assert files(tmp_path / "games-old.sqlite") == old
    assert events_in(tmp_path / "games-old.sqlite") == ["precious"]


def test_a_log_is_not_overwritten(tmp_path: Path) -> None:
    """A log without its store is left alone."""
    path = tmp_path / "games.sqlite"
    make_old(path)
    (tmp_path / "games-old.sqlite-wal").write_bytes(b"precious")

    assert set_aside(path) == tmp_path / "games-old-2.sqlite"
    assert (tmp_path / "games-old.sqlite-wal").read_bytes() == b"precious"


def test_processes_that_start_together_set_it_aside_once(tmp_path: Path) -> None:
    """One of them moves the old store, all of them use the new one, and nothing is lost."""
    make_old(file(tmp_path))
    started = [
        subprocess.Popen(
            [*COMMAND, "play"],
            env=saving(tmp_path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    ended = [process.communicate(b"5\nquit\n", timeout=DEADLINE_SECONDS) for process in started]

    assert [process.returncode for process in started] == 4 * [0], ended
    assert sum(bool(errors) for _, errors in ended) == 1
    assert digits(tmp_path) == 4 * ["5"]
    assert events_in(file(tmp_path).with_name("games-old.sqlite")) == ["precious"]
    assert len([*file(tmp_path).parent.glob("*.sqlite")]) == 2


def test_a_store_that_an_older_version_has_open_is_not_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would lose track of its files."""
    monkeypatch.setattr("noughts.store.files.LOCK_OUT_TIMEOUT_SECONDS", 0)
    path = tmp_path / "games.sqlite"
    make_old(path)
    script = "import sqlite3, sys\ndatabase = sqlite3.connect(sys.argv[1])\n"
    script += "database.execute('SELECT * FROM events').fetchall()\nprint(flush=True)\ninput()\n"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(
            StoreUnavailable, match=r"another process has the store .* open: end it first"
        ):
            set_aside(path)
        assert [*tmp_path.glob("games-old*")] == []
        other.communicate(b"\n", timeout=DEADLINE_SECONDS)

    assert set_aside(path) == tmp_path / "games-old.sqlite"


@pytest.mark.parametrize("content", [None, b"", b"SQLite format 3\0" + bytes(84)])
def test_anything_but_an_old_store_is_left_where_it_is(content: bytes | None, tmp_path: Path) -> None:
    """Another process may have begun a new store already."""
    path = tmp_path / "games.sqlite"
    if content is not None:
        path.write_bytes(content)

    assert set_aside(path) is None
    assert [*tmp_path.iterdir()] == [path] * (content is not None)


def test_a_current_store_is_left_where_it_is(tmp_path: Path) -> None:
    """It is not moved even if somebody found an old one there a moment before."""
    path = tmp_path / "games.sqlite"
    open_store(f"sqlite:{path}").close()

    assert set_aside(path) is None
    open_store(f"sqlite:{path}", create=False).close()
