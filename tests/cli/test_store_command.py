"""`noughts store` and `games --delete`, and everything that can go wrong."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from argparse import Namespace
from contextlib import closing
from io import StringIO
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest

from noughts import Service, open_store
from noughts.cli import progress
from noughts.cli.commands import store as store_tasks
from noughts.store.archive import export_game
from noughts.store.verify import verify
from support.command import COMMAND, run_unread
from support.deadlines import DEADLINE_SECONDS
from support.fake_console import Terminal, fake_console
from support.forked import noughts
from support.pseudo_terminal import in_terminal
from support.saved_games import (
    DRAW,
    X_WINS,
    asked,
    change,
    digits,
    drawn,
    file,
    ids,
    play,
    save,
    saving,
    url,
)

LIMITED = (
    "import os, resource, sys\n"
    "limit = int(sys.argv[1])\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)
"""Starts a command that can write no file of more than so many bytes: a disk that is full by then."""

Ran = subprocess.CompletedProcess[str]

HOSTILE = "\x1b[2J\x1b[31m\u202e"


def with_limit(
    limit: int, env: dict[str, str], *arguments: str, typed: str = "", out: int | IO[str] = PIPE
) -> Ran:
    """Run the command with a limit on file sizes, as on a full disk."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", LIMITED, str(limit), *COMMAND, *arguments],
        input=typed,
        stdout=out,
        stderr=PIPE,
        encoding="utf-8",
        env=env,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


def check_refused(ran: Ran, code: int, sentence: str) -> None:
    """Check the exit code, and that the one clean message contains the sentence."""
    assert "Traceback" not in ran.stderr
    assert sentence in ran.stderr
    assert ran.stderr.startswith("noughts")
    assert all(line.isprintable() for line in ran.stderr.splitlines())
    assert len(ran.stderr) < 1000
    assert ran.returncode == code


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def lines_of(folder: Path) -> str:
    """Verify the store, and return it as lines."""
    with open_store(url(folder), create=False) as store:
        verify(store)
    return noughts("store", "export", env=saving(folder)).stdout


@pytest.fixture(scope="session")
def saved_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "good"
    save(folder, "aaaaaaaa", *DRAW, x="Ann", o="Zo\u00eb")
    save(folder, "bbbbbbbb", *X_WINS)
    save(folder, "cccccccc", "5", "1", "undo", x="Ann")
    return folder


@pytest.fixture
def good(saved_once: Path, tmp_path: Path) -> Path:
    """Return a data folder with three games: drawn, won, and unfinished."""
    return Path(shutil.copytree(saved_once, tmp_path / "good"))


# Several at once


def test_a_backup_can_be_made_while_somebody_plays(tmp_path: Path) -> None:
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        session.expect(asked(""))
        session.type("5\n")
        session.expect(asked("5"))

        ran = noughts("store", "backup", str(tmp_path / "copy"), env=saving(tmp_path))

        session.type("1\n")
        session.expect(drawn("51", end="\r\n"))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"Copied to {tmp_path / 'copy'}.\n"
    assert noughts(
        "resume", env=saving(tmp_path, NOUGHTS_STORE=f"sqlite:{tmp_path / 'copy'}")
    ).stdout.startswith(drawn("5"))
    assert digits(tmp_path) == ["51"]


def test_four_processes_may_import_the_same_file(good: Path, tmp_path: Path) -> None:
    """At the same time, into a new store: everything is recorded once."""
    exported = tmp_path / "games.jsonl"
    exported.write_text(lines_of(good))
    command, env = [*COMMAND, "store", "import", str(exported)], saving(tmp_path / "there")
    running = [subprocess.Popen(command, env=env, stdout=PIPE, stderr=PIPE) for _ in range(4)]
    ended = [process.communicate(timeout=DEADLINE_SECONDS) for process in running]

    assert [process.returncode for process in running] == 4 * [0], ended
    assert lines_of(tmp_path / "there") == lines_of(good)


def test_two_processes_may_create_and_use_a_store_at_once(tmp_path: Path) -> None:
    env = saving(tmp_path)
    with (
        in_terminal("play", "--color=never", env=env) as one,
        in_terminal("play", "--color=never", env=env) as other,
    ):
        for number, cell in enumerate(DRAW, start=1):
            for session in (one, other):
                session.expect(asked(DRAW[: number - 1]))
                session.type(f"{cell}\n")
        for session in (one, other):
            session.expect("Game is Draw!")

    assert digits(tmp_path) == [DRAW, DRAW]


# Bad usage


NO_STORES = "nonsense", "sqlite:", "memory:x", "sqllite:x", "http://x", ":", "/games", "\udcff", "MEMORY:"


@pytest.mark.parametrize("place", [*NO_STORES, HOSTILE])
def test_a_bad_store_url_is_refused(tmp_path: Path, place: str) -> None:
    """By option or by environment; the message lists the kinds of stores."""
    by_option = noughts("play", "--store", place, env=saving(tmp_path))
    by_environment = noughts("store", "verify", env=saving(tmp_path, NOUGHTS_STORE=place))

    for ran in (by_option, by_environment):
        check_refused(ran, 2, "is not a store: a store is memory:, sqlite:PATH or postgresql://")
        assert ran.stdout == ""
    assert list(tmp_path.iterdir()) == []


# Stores that are missing or unavailable

ALL = {
    "play": ["play"],
    "games": ["games"],
    "resume": ["resume"],
    "replay": ["replay", "a"],
    "export": ["store", "export", "a"],
    "verify": ["store", "verify"],
    "backup": ["store", "backup", "copy"],
    "export all": ["store", "export"],
    "import": ["store", "import", "/dev/null"],
}
SOME = ["play", "games", "verify", "import"]


@pytest.mark.waits
def test_a_file_that_another_program_keeps_locked_is_reported(good: Path) -> None:
    """The move was not made, and the store is as it was."""
    before = lines_of(good)
    with closing(sqlite3.connect(file(good), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        listed = noughts("games", env=saving(good))
        ran = noughts("play", typed="5\n", env=saving(good))

        other.execute("ROLLBACK")
    assert (listed.returncode, listed.stderr) == (0, "")
    check_refused(ran, 1, "another program has kept it locked for 5 seconds")
    assert drawn("5") not in ran.stdout
    assert lines_of(good) == before


def test_a_store_that_is_deleted_in_mid_game_is_reported(tmp_path: Path) -> None:
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        session.expect(asked(""))
        for path in file(tmp_path).parent.iterdir():
            path.unlink()

        session.type("5\n")

        assert session.end() == 1
        assert b"was moved, deleted or replaced while it was open" in session.output
        assert b"Traceback" not in session.output


# Full disks


@pytest.mark.parametrize("limit", [0, 100, 5000, 20_000])
def test_a_disk_that_is_full_at_the_start_is_reported(tmp_path: Path, limit: int) -> None:
    """With room again, the same command plays."""
    ran = with_limit(limit, saving(tmp_path), "play", typed="5\n")

    check_refused(ran, 1, "(--no-save plays without saving)\n")
    assert ran.stdout == ""
    again = noughts("play", typed="5\n", env=saving(tmp_path))
    assert (again.returncode, again.stderr) == (0, "")
    assert digits(tmp_path) == ["5"]


def test_a_disk_that_is_full_in_mid_game_loses_no_move_that_was_shown(tmp_path: Path) -> None:
    """A move that could not be saved is not shown."""
    with in_terminal("play", "--color=never", env=saving(tmp_path)) as session:
        session.expect(asked(""))
        session.type("5\n")
        session.expect(asked("5"))
        _, most = resource.prlimit(session.process, resource.RLIMIT_FSIZE)
        resource.prlimit(session.process, resource.RLIMIT_FSIZE, (0, most))

        session.type("1\n")

        assert session.end() == 1
        assert b"is unavailable: the disk " in session.output
        assert b"Traceback" not in session.output
        assert session.output.decode().count(drawn("51", end="\r\n")) == 0
    assert noughts("resume", env=saving(tmp_path)).stdout.startswith(drawn("5"))
    assert digits(tmp_path) == ["5"]


def test_a_backup_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    import_many(tmp_path / "data")
    copy = tmp_path / "copies" / "copy"
    copy.parent.mkdir()

    for limit in (33_000, 50_000):
        ran = with_limit(limit, saving(tmp_path / "data"), "store", "backup", str(copy))
        check_refused(ran, 1, f"{copy} is unavailable: the disk ")
        assert list(copy.parent.iterdir()) == []

    assert len(digits(tmp_path / "data")) == MANY


def test_an_import_that_does_not_fit_can_be_repeated(tmp_path: Path) -> None:
    """What was imported until then stays."""
    save(tmp_path, "aaaaaaaa", "5")

    ran = import_many(tmp_path, limit=100_000)

    check_refused(ran, 1, "(what was imported stays, and the import can be repeated)")
    assert "is unavailable: the disk " in ran.stderr
    assert ran.stdout == ""
    assert digits(tmp_path)[-1] == "5"
    again = import_many(tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    assert digits(tmp_path) == [*MANY * [DRAW], "5"]


def test_an_export_that_does_not_fit_is_reported(tmp_path: Path) -> None:
    import_many(tmp_path)
    with (tmp_path / "games.jsonl").open("w") as out:
        ran = with_limit(50_000, saving(tmp_path), "store", "export", out=out)

    check_refused(ran, 1, "cannot continue: File too large")


MANY = 100


def import_many(folder: Path, limit: int = 1 << 30) -> Ran:
    """Import many games with a limit on file sizes, as on a full disk."""
    with open_store("memory:") as store:
        play(store, "game", *DRAW)
        line = export_game(Service(store).look("game"))
    source = folder.with_suffix(".many")
    source.write_text("".join(line.replace(':"game"', f':"game-{number}"') for number in range(MANY)))
    return with_limit(limit, saving(folder), "store", "import", str(source))


# Files that are something else


BAD_FILES = {
    "application_id = 12345": "is not a store of games: the database belongs to another program",
    "user_version = 99": "was made by a newer noughts: its schema is 99, not 20",
}


@pytest.mark.parametrize(("setting", "reason"), BAD_FILES.items())
@pytest.mark.parametrize("task", SOME)
def test_a_file_that_is_something_else_is_left_as_it_is(
    good: Path, task: str, setting: str, reason: str
) -> None:
    """To the byte, with no other file added."""
    change(good, f"PRAGMA {setting}", "PRAGMA wal_checkpoint(TRUNCATE)")
    before = contents(good)

    ran = noughts(*ALL[task], typed="5\n", env=saving(good))

    check_refused(ran, 1, f"{file(good)} {reason}")
    assert ran.stdout == ""
    assert contents(good) == before


@pytest.mark.parametrize("task", ["resume", "replay", "export", "verify", "backup", "export all"])
def test_a_garbled_store_is_reported_as_damaged(good: Path, tmp_path: Path, task: str) -> None:
    file(good).write_bytes(file(good).read_bytes()[:4096] + b"noise" * 5000)
    before = contents(good)

    ran = noughts(*ALL[task], env=saving(good), cwd=tmp_path)

    check_refused(ran, 1, "damaged")
    assert contents(good) == before
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


# What has changed


ANN = "UPDATE games SET record = replace(record, 'Ann', 'Eve') WHERE id = 'aaaaaaaa'"
ANN_CHANGED = "game 'aaaaaaaa' has changed since it was recorded"
CHANGES = {
    ANN: ANN_CHANGED,
    "UPDATE games SET revision = 99 WHERE id = 'bbbbbbbb'": "game 'bbbbbbbb' has changed",
    "UPDATE games SET record = CAST(x'7bff' AS TEXT) WHERE id = 'aaaaaaaa'": ANN_CHANGED,
    "UPDATE games SET result = 'X' WHERE id = 'cccccccc'": "lists are wrong about game 'cccccccc'",
    "UPDATE counter SET hours = 9": "the count of hours has changed",
    "DROP INDEX games_by_x": "the index games_by_x is missing",
}


@pytest.mark.parametrize(("statement", "sentence"), CHANGES.items())
def test_every_change_is_found(good: Path, statement: str, sentence: str) -> None:
    """Nothing is repaired silently, and the exit code reports it even if the report is unread."""
    change(good, statement)
    before = contents(good)

    ran = noughts("store", "verify", env=saving(good))
    unread = run_unread("store", "verify", "--json", env=saving(good))

    check_refused(ran, 1, "the store is damaged: 1 fault (noughts store export")
    fault, good_part = ran.stdout.splitlines()
    assert sentence in fault
    assert good_part.endswith(": the rest is sound.")
    assert (unread.returncode, unread.stderr) == (1, ran.stderr)
    assert contents(good) == before


def test_a_damaged_game_does_not_affect_others(good: Path) -> None:
    change(good, ANN)

    listed = noughts("games", env=saving(good))
    resumed = noughts("resume", "c", typed="1\n", env=saving(good))
    damaged = [noughts(*ALL[task], env=saving(good)) for task in ("replay", "export")]
    exported = noughts("store", "export", env=saving(good))

    assert (listed.returncode, listed.stderr) == (0, "")
    assert [line.split("  ", 2)[-1] for line in listed.stdout.splitlines()[1:]] == [
        "5      Ann  -  O to move",
        "14253  -    -  X won",
        "aaaaaaaa: damaged: noughts store verify says more.",
    ]
    assert (resumed.returncode, resumed.stderr) == (0, "")
    for ran in damaged:
        check_refused(ran, 1, ANN_CHANGED)
    assert [line[9:17] for line in exported.stdout.splitlines()] == ["bbbbbbbb", "cccccccc"]
    assert exported.returncode == 1
    assert exported.stderr.splitlines() == [
        f"noughts: {ANN_CHANGED}",
        "noughts: the store is damaged: only what is sound was written (docs/store.md)",
    ]


def test_what_can_be_read_of_a_cut_file_moves_to_a_new_store(good: Path) -> None:
    """SQLite opens it as soon as it is as long as before, whatever is in the new pages."""
    with open_store(url(good)) as store:
        for number in range(60):
            play(store, f"game{number}", *X_WINS)
    size = file(good).stat().st_size
    os.truncate(file(good), size - 3 * 4096)

    unopened = noughts("store", "verify", "--json", env=saving(good))
    os.truncate(file(good), size)
    verified = noughts("store", "verify", env=saving(good))
    exported = noughts("store", "export", env=saving(good))
    imported = noughts("store", "import", "-", typed=exported.stdout, env=saving(good / "new"))

    for ran in (unopened, verified):
        check_refused(ran, 1, "the store is damaged: ")
    assert unopened.stdout.startswith('{"games": 0, "events": 0, "faults": ["the store ')
    assert (exported.returncode, imported.returncode) == (1, 0)
    assert 50 < len(digits(good / "new")) < 63


def test_a_hostile_file_name_is_shown_in_escapes(good: Path, tmp_path: Path) -> None:
    name = str(tmp_path / HOSTILE)

    ran = [
        noughts("store", "import", name, env=saving(good)),
        noughts("store", "verify", "--store", f"sqlite:{name}", env=saving(good)),
        noughts("store", "backup", name, env=saving(good)),
        noughts("store", "backup", name, env=saving(good)),
        noughts("play", "--store", f"sqlite:{name}/x", env=saving(good)),
    ]

    assert [each.returncode for each in ran] == [2, 1, 0, 1, 1]
    for each in ran:
        assert all(line.isprintable() for line in (each.stdout + each.stderr).splitlines())


# Imports


def test_a_hostile_import_is_listed_in_clean_lines(good: Path, tmp_path: Path) -> None:
    """The good games around the bad lines are recorded."""
    lines = lines_of(good).splitlines(keepends=True)
    (tmp_path / "harm").write_text(f"{lines[0]}\x1b[2J\x07\n{lines[1]}{'x' * 2_000_000}\n{lines[2]}")

    ran = noughts("store", "import", str(tmp_path / "harm"), env=saving(tmp_path / "new"))

    check_refused(ran, 2, "noughts: 2 lines not imported\n")
    assert ran.stdout.splitlines() == [
        "Not imported: line 2: '\\x1b[2J\\x07' is not JSON.",
        "Not imported: line 4: a line has at most 1048576 bytes.",
        "3 games, 66 events: imported, 0 known before.",
    ]
    assert lines_of(tmp_path / "new") == "".join(lines)


def test_an_import_that_is_killed_leaves_the_store_good(good: Path) -> None:
    before = lines_of(good)
    command = [*COMMAND, "store", "import", "-"]
    with subprocess.Popen(command, env=saving(good), stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin
        os.write(process.stdin.fileno(), before.replace("aaaaaaaa", "ffffffff").encode())
        process.kill()

    assert set(before.splitlines()) <= set(lines_of(good).splitlines())


# Deleting


@pytest.mark.parametrize("others", [[], ["aaaaaaaa2"]])
def test_an_exact_id_is_deleted(good: Path, others: list[str]) -> None:
    """Even if a newer id begins with it."""
    for other in others:
        save(good, other, "5", x="Eve")

    ran = noughts("games", "--delete", "aaaaaaaa", typed="y\n", env=saving(good))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Ann  Zo\u00eb" in ran.stdout
    assert "Eve" not in ran.stdout
    assert sorted(ids(good)) == [*others, "bbbbbbbb", "cccccccc"]
    assert noughts("store", "verify", env=saving(good)).returncode == 0


# Progress


@pytest.mark.parametrize("task", ["verify", "backup", "export", "import"])
@pytest.mark.parametrize(
    ("columns", "delay", "is_shown"), [(80, 0, True), (20, 0, False), (80, 9999, False)]
)
def test_a_task_shows_its_progress_in_a_terminal(
    good: Path, monkeypatch: pytest.MonkeyPatch, task: str, columns: int, delay: int, *, is_shown: bool
) -> None:
    """If it takes longer than a moment, and where there is room; the line is left empty."""
    terminal, source = Terminal(), good / "source"
    if task == "import":
        source.write_text(lines_of(good))
    monkeypatch.setattr(progress, "window_columns", lambda _out: columns)
    monkeypatch.setattr(store_tasks, "DELAY_SECONDS", delay)

    options = Namespace(task=task, store=url(good), json=False, file=str(source), game=None, rooms=False)
    store_tasks.run(options, fake_console(StringIO(), terminal))

    assert ("0 %" in terminal.getvalue()) == is_shown
    assert terminal.getvalue().rpartition("\r")[2] == ""
