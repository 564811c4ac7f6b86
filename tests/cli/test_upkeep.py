"""Deleting games, and restoring and repairing stores, with the real command."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from noughts import open_store
from noughts.cli import progress
from noughts.cli.commands import store as store_tasks
from noughts.files import put_in_place
from noughts.store.backups import backup, repair, restore
from noughts.store.base import ALL_GAMES
from noughts.store.errors import CorruptStore, NotAStore, StoreUnavailable
from noughts.store.records import record_hash
from noughts.store.salvage import salvage
from noughts.store.verify import verify
from support.command import run_unread
from support.deadlines import DEADLINE_SECONDS
from support.fake_console import Terminal, fake_console
from support.forked import noughts
from support.pseudo_terminal import in_terminal
from support.saved_games import DRAW, X_WINS, asked, change, digits, file, ids, play, save, saving, url


@pytest.fixture
def good(tmp_path: Path) -> Path:
    folder = tmp_path / "good"
    save(folder, "aaaaaaaa", *DRAW, x="Ann", o="Bob")
    save(folder, "bbbbbbbb", *X_WINS)
    save(folder, "cccccccc", "5", "1", x="Ann")
    return folder


def save_many(folder: Path, games: int) -> None:
    with open_store(url(folder)) as store:
        for number in range(games):
            play(store, f"game{number}", *X_WINS)


# Deleting a game


@pytest.mark.parametrize("is_in_the_catalogue", [True, False])
@pytest.mark.parametrize("others", [[], ["aaaaaaaa2"]])
def test_an_exact_id_is_deleted(good: Path, others: list[str], *, is_in_the_catalogue: bool) -> None:
    """Even if a newer id begins with it, or the catalogue has lost it."""
    for other in others:
        save(good, other, "5", x="Eve")
    if not is_in_the_catalogue:
        change(good, "DELETE FROM noughts_games WHERE id = 'aaaaaaaa'")

    ran = noughts("games", "--delete", "aaaaaaaa", typed="y\n", env=saving(good))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ("Ann  Bob" in ran.stdout) == is_in_the_catalogue
    assert "Eve" not in ran.stdout
    assert sorted(ids(good)) == [*others, "bbbbbbbb", "cccccccc"]
    assert noughts("store", "verify", env=saving(good)).returncode == 0


# Verifying


def test_verification_results_as_data(good: Path) -> None:
    ran = noughts("store", "verify", "--json", env=saving(good))
    assert ran.returncode == 0
    assert json.loads(ran.stdout) == {"games": 3, "events": 63, "faults": []}

    change(good, "DELETE FROM noughts_records WHERE game = 'bbbbbbbb'")
    change(good, "DELETE FROM noughts_games WHERE id = 'bbbbbbbb'")
    ran = noughts("store", "verify", "--json", env=saving(good))
    assert ran.returncode == 1
    found = json.loads(ran.stdout)
    assert found["games"] == 2
    assert [fault for fault in found["faults"] if "of the first" in fault] == found["faults"]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_damage_has_its_exit_code_even_if_the_report_is_unread(good: Path, form: tuple[str, ...]) -> None:
    change(good, "DELETE FROM noughts_records WHERE game = 'bbbbbbbb'")

    ran = run_unread("store", "verify", *form, env=saving(good))

    assert ran.returncode == 1
    assert ran.stderr.startswith("noughts: the store is damaged")
    assert ran.stderr.count("\n") == 1


def test_games_are_listed_beside_one_that_is_not_text_any_more(good: Path) -> None:
    change(good, "UPDATE noughts_records SET events = CAST(x'7bff' AS TEXT) WHERE game = 'aaaaaaaa'")

    ran = noughts("games", env=saving(good))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("damaged") == 1
    assert len(ran.stdout.splitlines()) == 4


@pytest.mark.parametrize("damage", ["a trigger", "a cut"])
def test_what_is_still_good_is_counted_in_a_store_that_can_not_be_opened(good: Path, damage: str) -> None:
    save_many(good, 60)
    if damage == "a trigger":
        change(good, "CREATE TRIGGER busy AFTER INSERT ON noughts_records BEGIN SELECT 1; END")
        fault = "the trigger 'busy' on 'noughts_records' is not part of a store"
    else:
        os.truncate(file(good), file(good).stat().st_size - 4096)
        fault = "malformed"

    ran = noughts("store", "verify", "--json", env=saving(good))

    found = json.loads(ran.stdout)
    assert (found["games"] == 63) if damage == "a trigger" else (30 < found["games"] < 63)
    assert fault in found["faults"][0]
    assert ran.returncode == 1
    assert "noughts store repair copies what is sound" in ran.stderr


def test_a_checkpoint_that_can_not_be_read_hides_no_other_fault(good: Path) -> None:
    change(good, "DELETE FROM noughts_records WHERE game = 'bbbbbbbb'")
    checkpoint = Path(f"{file(good)}-checkpoint")
    checkpoint.unlink()
    checkpoint.mkdir()

    ran = noughts("store", "verify", env=saving(good))

    assert ran.returncode == 1
    assert f"the checkpoint {checkpoint} can't be read: Is a directory\n" in ran.stdout
    assert "the catalogue is wrong about game 'bbbbbbbb'" in ran.stdout


@pytest.mark.parametrize("task", ["verify", "backup", "restore", "repair", "export", "import"])
@pytest.mark.parametrize(
    ("columns", "delay", "is_shown"), [(80, 0, True), (20, 0, False), (80, 9999, False)]
)
def test_a_task_shows_its_progress_in_a_terminal(
    good: Path, monkeypatch: pytest.MonkeyPatch, task: str, columns: int, delay: int, *, is_shown: bool
) -> None:
    """If it takes longer than a moment, and where there is room; the line is left empty."""
    terminal, source = Terminal(), good / "source"
    if task == "restore":
        noughts("store", "backup", str(source), env=saving(good))
    elif task == "import":
        source.write_text(noughts("store", "export", env=saving(good)).stdout)
    monkeypatch.setattr(progress, "window_columns", lambda _out: columns)
    monkeypatch.setattr(store_tasks, "DELAY_SECONDS", delay)

    options = Namespace(task=task, store=url(good), json=False, file=str(source))
    store_tasks.run(options, fake_console(StringIO(), terminal))

    assert ("0 %" in terminal.getvalue()) == is_shown
    assert terminal.getvalue().rpartition("\r")[2] == ""


# Restoring


def back_up(folder: Path, target: Path) -> Path:
    assert noughts("store", "backup", str(target), env=saving(folder)).returncode == 0
    return target


@pytest.fixture
def copy(good: Path, tmp_path: Path) -> Path:
    return back_up(good, tmp_path / "copy.sqlite")


def test_a_damaged_backup_is_not_restored(good: Path, copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as store:
        store.execute("DELETE FROM noughts_records WHERE game = 'cccccccc'")
        store.commit()
    save(good, "dddddddd", "1")

    ran = noughts("store", "restore", str(copy), env=saving(good))

    assert ran.returncode == 1
    assert "is damaged, and was not restored" in ran.stderr
    assert len(digits(good)) == 4
    assert {path.name for path in file(good).parent.iterdir()} == {
        "games.sqlite",
        "games.sqlite-checkpoint",
    }


@pytest.mark.waits
def test_nothing_is_restored_while_somebody_plays(good: Path, copy: Path) -> None:
    """Their moves would go into a file that is not the store any more."""
    with in_terminal("play", "--color=never", env=saving(good)) as session:
        session.expect(asked(""))
        session.type("5\n")
        session.expect(asked("5"))

        ran = noughts("store", "restore", str(copy), env=saving(good))

        assert ran.returncode == 1
        assert "another process has the store" in ran.stderr
        session.type("1\n")
        session.expect(asked("51"))
    assert "51" in digits(good)


def test_a_store_that_this_process_has_open_is_not_replaced(good: Path, copy: Path) -> None:
    with open_store(url(good)) as store:
        with pytest.raises(StoreUnavailable, match=r"this process has the store .* open: close it first"):
            restore(str(copy), url(good))
        assert verify(store).games == 3


@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_a_restored_store_keeps_its_owner(good: Path, copy: Path, *, has_checkpoint: bool) -> None:
    """A server must still be able to write to it if root restores it."""
    if not has_checkpoint:
        Path(f"{file(good)}-checkpoint").unlink()
    for path in good.rglob("*.sqlite*"):
        path.chmod(0o640)
        if os.geteuid() == 0:
            os.chown(path, 1234, 1234)
    before = {_rights(path) for path in good.rglob("*.sqlite*")}

    restore(str(copy), url(good))

    assert len(before) == 1
    assert {_rights(path) for path in good.rglob("*.sqlite*")} == before
    assert len([*good.rglob("*.sqlite*")]) == 3 + has_checkpoint


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder for all users; another run of the tests may close the parents of `tmp_path`."""
    with TemporaryDirectory(prefix="noughts-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def test_a_file_that_is_replaced_keeps_its_group(open_folder: Path) -> None:
    """Others of the group must be able to read it, and only root can give files away."""
    group = 3000 if os.geteuid() == 0 else os.getgid()
    path = open_folder / "file"
    path.write_bytes(b"old")
    os.chown(path, -1, group)
    path.chmod(0o660)

    as_another_user(lambda: put_in_place(path, b"new"), group)

    assert path.read_bytes() == b"new"
    assert (path.stat().st_gid, path.stat().st_mode & 0o777) == (group, 0o660)


@pytest.mark.parametrize("kind", ["another program's database", "a newer store"])
def test_only_a_store_is_replaced(good: Path, copy: Path, tmp_path: Path, kind: str) -> None:
    """Only what may be a damaged store is replaced."""
    other = back_up(good, tmp_path / "other.sqlite")
    setting = "application_id" if kind == "another program's database" else "user_version"
    with closing(sqlite3.connect(other)) as store:
        store.execute(f"PRAGMA {setting} = 99")
    before = other.read_bytes()

    with pytest.raises(NotAStore):
        restore(str(copy), f"sqlite:{other}")

    assert other.read_bytes() == before
    other.write_bytes(b"rubbish")
    assert restore(str(copy), f"sqlite:{other}").copied.games == 3


def as_another_user(work: Callable[[], object], group: int) -> None:
    """Do something in another process, without root's privileges."""
    child = os.fork()
    if not child:
        code = 1
        with suppress(BaseException):
            if os.geteuid() == 0:
                os.setgroups([group])
                os.setgid(65534)
                os.setuid(65534)
            work()
            code = 0
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def _rights(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_mode, found.st_uid, found.st_gid


# Repairing


def test_a_store_is_repaired_where_nothing_can_be_written(good: Path, open_folder: Path) -> None:
    """As on a disk that was mounted read-only because it fails."""
    folder = open_folder / "read-only"
    folder.mkdir()
    store, target = folder / "games.sqlite", open_folder
    back_up(good, store)
    store.chmod(0o444)
    folder.chmod(0o555)

    as_another_user(lambda: repair(f"sqlite:{store}", str(target / "new.sqlite")), 65534)

    assert [path.name for path in folder.iterdir() if "-wal" in path.name] == []
    with open_store(f"sqlite:{target / 'new.sqlite'}") as repaired:
        assert verify(repaired).games == 3
    folder.chmod(0o777)  # so that it can be removed


def test_a_repair_leaves_out_a_game_with_an_impossible_time(good: Path, tmp_path: Path) -> None:
    with open_store(url(good)) as saved:
        *_, before, last = saved.read("cccccccc")
    link = record_hash(before.hash, "cccccccc", last.version, -5, last.key, last.text)
    with closing(sqlite3.connect(file(good))) as store:
        store.execute("UPDATE noughts_records SET at = -5, hash = ? WHERE hash = ?", (link, last.hash))
        store.commit()

    found = repair(url(good), str(tmp_path / "new.sqlite"))

    assert found.copied.games == 2
    (left_behind,) = found.left_behind
    assert "not -5" in left_behind
    with open_store(url(good)) as saved, pytest.raises(CorruptStore, match="not -5"):
        backup(saved, str(tmp_path / "copy.sqlite"))


def test_a_repair_copies_every_sound_game(good: Path) -> None:
    """It lists what it leaves behind, and the damaged store stays as it is."""
    change(
        good, "UPDATE noughts_records SET events = replace(events, 'Ann', 'Eve') WHERE game = 'aaaaaaaa'"
    )
    before = file(good).read_bytes()
    repaired = file(good).with_name("games-repaired.sqlite")

    ran = noughts("store", "repair", env=saving(good))

    assert (ran.returncode, ran.stderr) == (0, "")
    first, left_behind, last = ran.stdout.splitlines()
    assert first.startswith("2 games, ")
    assert first.endswith(f"copied to {repaired}.")
    assert left_behind.startswith("Not copied: game 'aaaaaaaa': the record at version 3")
    assert last == f"To use it: noughts store restore {repaired}"
    data = json.loads(noughts("store", "repair", str(good / "new"), "--json", env=saving(good)).stdout)
    assert [f"Not copied: {line}" for line in data["left_behind"]] == [left_behind]
    assert file(good).read_bytes() == before

    assert noughts("store", "restore", str(repaired), env=saving(good)).returncode == 0
    assert sorted(ids(good)) == ["bbbbbbbb", "cccccccc"]


def test_a_repair_needs_no_index_and_no_catalogue(good: Path, tmp_path: Path) -> None:
    """It reads only the records, bypassing triggers and anything else."""
    for statement in (
        "DROP INDEX noughts_games_by_start",
        "DELETE FROM noughts_games",
        "CREATE TRIGGER trap BEFORE INSERT ON noughts_records BEGIN SELECT raise(ABORT, 'trap'); END",
    ):
        change(good, statement)
    found = repair(url(good), str(tmp_path / "new.sqlite"))

    assert found.left_behind == ()
    with open_store(f"sqlite:{tmp_path / 'new.sqlite'}") as store:
        assert verify(store).games == len(store.catalogue(ALL_GAMES, 9)) == 3


def test_what_is_left_of_a_lost_store_does_not_reach_the_restored_one(good: Path, copy: Path) -> None:
    """Its log would be applied to the backup; it is kept under the new name."""
    left = subprocess.run(
        [sys.executable, "-c", KILLED, url(good)],
        capture_output=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    assert left.returncode == -signal.SIGKILL
    file(good).unlink()

    ran = noughts("store", "restore", str(copy), env=saving(good))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert sorted(ids(good)) == ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
    kept = file(good).with_name("games-replaced.sqlite-wal")
    assert kept.stat().st_size > 0
    assert ran.stdout.endswith(
        f"What was there is now {file(good).with_name('games-replaced.sqlite')}.\n"
    )


KILLED = """
import os, signal, sys
from noughts import CreateGame, Service, open_store
service = Service(open_store(sys.argv[1]))
for number in range(9):
    service.handle(f"game{number}", CreateGame())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("first", "missing"), [(0, "all its records"), (15, "its last records")])
def test_a_repair_lists_incomplete_games(good: Path, tmp_path: Path, first: int, missing: str) -> None:
    statement = "DELETE FROM noughts_records WHERE game = 'bbbbbbbb' AND version >= ?"
    change(good, statement, values=[first])

    found = repair(url(good), str(tmp_path / "new.sqlite"))

    assert found.copied.games == 2
    assert found.left_behind == (f"game 'bbbbbbbb': {missing} are missing",)


def test_a_repair_does_not_trust_the_numbers_that_sqlite_keeps(tmp_path: Path) -> None:
    save_many(tmp_path, 220)
    change(tmp_path, "DELETE FROM sqlite_sequence")

    found = repair(url(tmp_path), str(tmp_path / "new.sqlite"))

    assert (found.copied.games, found.left_behind) == (220, ())


class HalfReadable(sqlite3.Connection):
    """A file whose first rows can't be read, and neither can the number of the last one."""

    def execute(self, statement: str, values: Any = (), /) -> sqlite3.Cursor:  # noqa: ANN401 - as the library has it
        if "sqlite_sequence" in statement or ("sequence > ?" in statement and values[0] < 40):
            raise sqlite3.DatabaseError("malformed")
        return super().execute(statement, values)


def test_a_repair_reads_on_if_it_does_not_know_where_the_rows_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the first rows that are lost, and not the last."""
    unread: list[str] = []
    save_many(tmp_path, 20)
    monkeypatch.setattr("noughts.store.salvage.MAX_SKIPPED_AT_END", 10)
    with monkeypatch.context() as patched:
        connect = sqlite3.connect
        patched.setattr(sqlite3, "connect", partial(connect, factory=HalfReadable))
        rows = [*salvage(url(tmp_path), "records", unread)]

    assert len(rows) == 80
    assert unread == ["rows of the records can't be read at 41 places"]


def test_a_repair_saves_what_it_can_of_a_file_that_was_cut(tmp_path: Path) -> None:
    """Everything except the missing pages; a game that is entirely missing is listed."""
    save_many(tmp_path, 60)
    size = file(tmp_path).stat().st_size
    os.truncate(file(tmp_path), size - 4096)

    found = repair(url(tmp_path), str(tmp_path / "new.sqlite"))

    assert found.copied.games > 30
    with open_store(f"sqlite:{tmp_path / 'new.sqlite'}") as store:
        assert verify(store).games == found.copied.games
