"""`noughts store`: verify, backup, export and import, and everything that can go wrong."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest

from noughts import Event, open_store
from noughts.core.codec import dumps
from noughts.core.events import GameCreated, GameReady, PlayerActive
from noughts.store.archive import export_all
from noughts.store.records import record_hash
from noughts.store.verify import verify
from support.command import COMMAND
from support.deadlines import DEADLINE_SECONDS
from support.forked import noughts
from support.pseudo_terminal import in_terminal
from support.saved_games import DRAW, X_WINS, asked, change, digits, drawn, file, play, save, saving, url

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


def lines_of(folder: Path) -> list[str]:
    """Verify the store, and return it as lines."""
    with open_store(url(folder), create=False) as store:
        verify(store)
        return list(export_all(store))


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
    assert ran.stdout == f"1 game, 6 events: copied to {tmp_path / 'copy'}.\n"
    assert noughts(
        "resume", env=saving(tmp_path, NOUGHTS_STORE=f"sqlite:{tmp_path / 'copy'}")
    ).stdout.startswith(drawn("5"))
    assert digits(tmp_path) == ["51"]


def test_four_processes_may_import_the_same_file(good: Path, tmp_path: Path) -> None:
    """At the same time, into a new store: everything is recorded once."""
    exported = tmp_path / "games.jsonl"
    exported.write_text("".join(lines_of(good)))
    command, env = [*COMMAND, "store", "import", str(exported)], saving(tmp_path / "there")
    running = [subprocess.Popen(command, env=env, stdout=PIPE, stderr=PIPE) for _ in range(4)]
    ended = [process.communicate(timeout=DEADLINE_SECONDS) for process in running]

    assert [process.returncode for process in running] == 4 * [0], ended
    assert sorted(lines_of(tmp_path / "there")) == sorted(lines_of(good))


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
    "export": ["export", "a"],
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

    for limit in (33_000, 50_000, 100_000):
        ran = with_limit(limit, saving(tmp_path / "data"), "store", "backup", str(copy))
        check_refused(ran, 1, f"{copy}.partial is unavailable: the disk ")
        assert list(copy.parent.iterdir()) == []

    assert len(digits(tmp_path / "data")) == MANY


def test_an_import_that_does_not_fit_records_nothing(tmp_path: Path) -> None:
    save(tmp_path, "aaaaaaaa", "5")

    ran = import_many(tmp_path, limit=100_000)

    check_refused(ran, 1, "is unavailable: the disk ")
    assert ran.stdout == ""
    assert digits(tmp_path) == ["5"]
    again = import_many(tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    assert digits(tmp_path) == ["5", *MANY * [DRAW]]


def test_an_export_that_does_not_fit_is_reported(tmp_path: Path) -> None:
    import_many(tmp_path)
    with (tmp_path / "games.jsonl").open("w") as out:
        ran = with_limit(50_000, saving(tmp_path), "store", "export", out=out)

    check_refused(ran, 1, "cannot continue: File too large")


MANY = 40


def import_many(folder: Path, limit: int = 1 << 30) -> Ran:
    """Import many games with a limit on file sizes, as on a full disk."""
    with open_store("memory:") as store:
        play(store, "game", *DRAW)
        commands = [record.events for record in store.read("game")]
    source = folder.with_suffix(".many")
    source.write_bytes(b"".join(sealed(*commands, game=f"game-{number}") for number in range(MANY)))
    return with_limit(limit, saving(folder), "store", "import", str(source))


# Files that are something else


BAD_FILES = {
    "application_id = 12345": "is not a store of games: the database belongs to another program",
    "user_version = 99": "was made by a newer noughts: its schema is 99, and this one reads",
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


# Records that have changed


ANN = "UPDATE noughts_records SET events = replace(events, 'Ann', 'Eve') WHERE game = 'aaaaaaaa'"
ANN_CHANGED = "the record at version 3 of game 'aaaaaaaa' has changed since it was recorded"
CHANGES = {
    ANN: ANN_CHANGED,
    "DELETE FROM noughts_records WHERE version = 6": "version 9 of game 'bbbbbbbb' has changed",
    "UPDATE noughts_games SET result = 'X' WHERE id = 'cccccccc'": "is wrong about game 'cccccccc'",
}


@pytest.mark.parametrize(("statement", "sentence"), CHANGES.items())
def test_every_change_is_found(good: Path, statement: str, sentence: str) -> None:
    """Nothing is repaired silently."""
    change(good, statement)
    before = contents(good)

    ran = noughts("store", "verify", env=saving(good))

    check_refused(ran, 1, "the store is damaged: ")
    *faults, good_part = ran.stdout.splitlines()
    assert sentence in faults[0]
    assert good_part.endswith(": the rest is sound.")
    assert contents(good) == before


def test_a_damaged_game_does_not_affect_others(good: Path) -> None:
    change(good, ANN)

    listed = noughts("games", env=saving(good))
    resumed = noughts("resume", "c", typed="1\n", env=saving(good))
    damaged = [noughts(*ALL[task], env=saving(good)) for task in ("replay", "export", "export all")]

    assert (listed.returncode, listed.stderr) == (0, "")
    assert [line.split("  ", 2)[-1] for line in listed.stdout.splitlines()[1:]] == [
        "5      Ann  -  O to move",
        "14253  -    -  X won",
        "aaaaaaaa: damaged: noughts store verify says more.",
    ]
    assert (resumed.returncode, resumed.stderr) == (0, "")
    for ran in damaged:
        check_refused(ran, 1, ANN_CHANGED)


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


# Hostile imports


def sealed(*commands: Sequence[Event], game: str = "hhhhhhhh", key: str = "key", at: int = 0) -> bytes:
    """Return lines with valid hashes, whatever else they contain."""
    previous, version, lines = b"", 0, []
    for command in commands:
        texts = [*map(dumps, command)]
        previous = record_hash(previous, game, version, at, key, "\n".join(texts))
        line = {"game": game, "version": version, "at": at, "key": key}
        line |= {"events": [*map(json.loads, texts)], "hash": previous.hex()}
        lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        version += len(command)
    return "".join(lines).encode()


def changed(number: int, old: str, new: str) -> bytes:
    """Return a valid game with one line changed; fail if nothing changes."""
    lines = _game().splitlines(keepends=True)
    assert old.encode() in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old.encode(), new.encode("utf-8", "surrogateescape"), 1)
    return b"".join(lines)


def _game() -> bytes:
    with open_store("memory:") as store:
        play(store, "gggggggg", "5", "1", "9", x="Ann")
        return "".join(export_all(store)).encode()


MARK = GameCreated().first
CREATED = (GameCreated(), GameReady(), PlayerActive(MARK))

HOSTILE_FILES: dict[str, tuple[bytes, str]] = {
    "a line of 10 MB": (_game() + b"x" * 10_000_000, "line 7: a line has at most 1048576 bytes"),
    "an unknown event": (
        changed(3, "playerPlacedToken", "gameHacked"),
        "line 4: no event is called 'gameHacked'",
    ),
    "a changed name": (changed(2, "Ann", "Eve"), "line 3: the hash doesn't follow"),
    "an escape in a name": (changed(2, "Ann", "\\u001b[2J"), "line 3: "),
    "half a surrogate": (changed(2, "Ann", "\\ud800"), "line 3: "),
    "half a command": (sealed(CREATED[:2]), "game hhhhhhhh: the history stops after event 2"),
    "control characters": (b"\x1b[2J\x07\n", "line 2: '\\x1b[2J\\x07' is not JSON"),
}


@pytest.mark.parametrize("harm", HOSTILE_FILES)
def test_a_hostile_import_is_refused_whole(good: Path, tmp_path: Path, harm: str) -> None:
    """The good game before the bad line isn't recorded either."""
    hostile, sentence = HOSTILE_FILES[harm]
    (tmp_path / "harm").write_bytes(sealed(CREATED, game="first") + hostile)
    before = lines_of(good)

    ran = noughts("store", "import", str(tmp_path / "harm"), env=saving(good))

    check_refused(ran, 2, sentence)
    assert ran.stdout == ""
    assert lines_of(good) == before


def test_an_import_that_is_killed_leaves_the_store_good(good: Path) -> None:
    before = lines_of(good)
    command = [*COMMAND, "store", "import", "-"]
    with subprocess.Popen(command, env=saving(good), stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin
        os.write(process.stdin.fileno(), _game())
        process.kill()

    assert lines_of(good) == before
