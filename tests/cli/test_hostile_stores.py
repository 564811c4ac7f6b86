"""Hostile stores: nothing in them reaches the terminal unescaped, or blocks the command."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from noughts import Game, Player, X, parse_board
from noughts.cli.screen import Display, Screen
from noughts.store.rows import ROW, StoredGame, parse_record
from noughts.text.wordings import KATA
from support.forked import noughts
from support.saved_games import NOW, X_WINS, change, file, save, saving

HOSTILE = "\x1b[2J\x9b31m\u202e\n"
READING = {
    "games": ["games"],
    "resume": ["resume"],
    "replay": ["replay", "friday"],
    "export": ["store", "export", "friday"],
    "export all": ["store", "export"],
    "verify": ["store", "verify"],
}
ENDLESS = (
    "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    " SELECT i FROM n"
)
FAKES = {
    "games": "i id, 1 revision, 0 hour, 'a' record, '' room, x'' hash, i started, i played, 'X' x, 'O' o,"
    " NULL result, NULL open, NULL code",
    "Counter": "i hours, x'' hash",
}


def seal_again(folder: Path, old: str = "", new: str = "", **columns: object) -> None:
    """Change the only game's record or other columns, and make hash and columns for lists fit."""
    with closing(sqlite3.connect(file(folder), isolation_level=None)) as behind:
        names = ROW.split(", ")[:5]
        [found] = behind.execute(f"SELECT {', '.join(names)} FROM games").fetchall()  # noqa: S608 - our own
        row = dict(zip(names, found, strict=True)) | columns
        row["record"] = row["record"].replace(old, new)
        game, revision, hour, record, room = row.values()
        stored = StoredGame(game, revision, hour, record, room, parse_record(record))
        row |= {"hash": stored.hash, **stored.columns._asdict()}
        changes = ", ".join(f"{name} = ?" for name in row)
        assert behind.execute(f"UPDATE games SET {changes}", [*row.values()]).rowcount == 1  # noqa: S608 - our own


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder with one unfinished game."""
    save(tmp_path, "friday", "5", x="ann", o="bob")
    return tmp_path


@pytest.mark.parametrize("name", [HOSTILE, f"friday{HOSTILE}", HOSTILE.encode(), "\x1b]0;title\x07"])
def test_a_listed_id_has_no_control_characters(name: str | bytes, folder: Path) -> None:
    save(folder, "saturday", *X_WINS, at=NOW + 1)
    change(folder, "UPDATE games SET id = ? WHERE id = 'friday'", values=(name,))

    damaged = noughts("games", env=saving(folder))

    assert (damaged.returncode, damaged.stderr) == (0, "")
    _, newer, older = damaged.stdout.splitlines()
    assert newer.endswith("X won")
    assert older.endswith(": damaged: noughts store verify says more.")
    assert older.isprintable()


def test_an_invalid_id_with_valid_hashes_is_listed_safely(folder: Path) -> None:
    seal_again(folder, id=f"a{HOSTILE}")

    listed = noughts("games", env=saving(folder))

    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.endswith("5      ann  bob  O to move\n")
    assert all(line.isprintable() for line in listed.stdout.splitlines())


@pytest.mark.parametrize("task", READING)
def test_names_are_shown_without_control_characters(task: str, folder: Path) -> None:
    """In data they are JSON escapes."""
    seal_again(folder, '"ann"', json.dumps(HOSTILE))

    ran = noughts(*READING[task], env=saving(folder))

    assert "Traceback" not in ran.stderr
    assert all(line.isprintable() for line in (ran.stdout + ran.stderr).split("\n"))


@pytest.mark.parametrize("spoken", [False, True])
def test_a_screen_escapes_names_and_keeps_joiners(spoken: bool) -> None:  # noqa: FBT001 - a parameter
    """Joined emoji and Persian letters are shown as they are."""
    player = Player.__new__(Player)  # as an old record may have it: a new name like that is refused
    player.__dict__.update(name=f"\U0001f469\u200d\U0001f680{HOSTILE}", mark=X)
    game = Game.at(parse_board("XXX/OO_/___")).replace(players=(player,))
    out = io.StringIO()
    screen = Screen(out, Display(KATA, spoken=spoken))

    screen.say(screen.name(game, X))
    screen.show(game)

    printed = out.getvalue()
    assert printed.count("\U0001f469\u200d\U0001f680\\x1b[2J\\x9b31m\\u202e\\n") >= 2
    assert all(line.replace("\u200d", "").isprintable() for line in printed.split("\n"))


@pytest.mark.parametrize("at", ["1000000000000000", "-1", "noon", "\0"])
def test_an_invalid_time_is_listed_as_damage(at: str, folder: Path) -> None:
    change(folder, "UPDATE games SET record = replace(record, ?, ?)", values=(str(NOW), at))

    ran = noughts("games", env=saving(folder))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "friday: damaged: noughts store verify says more.\n"


@pytest.mark.parametrize("task", [*READING, "play"])
@pytest.mark.parametrize("table", FAKES)
def test_a_store_with_an_endless_view_for_a_table_is_refused(table: str, task: str, folder: Path) -> None:
    """By every command, without changing it."""
    fake = f"CREATE VIEW {table} AS SELECT {FAKES[table]} FROM endless"  # noqa: S608 - the above
    change(folder, f"DROP TABLE {table}", ENDLESS, fake)
    before = file(folder).read_bytes()

    ran = noughts(*READING.get(task, [task]), typed="1\n", env=saving(folder))

    assert ran.returncode == 1
    assert f"the view '{table}' on '{table}' is not part of it" in ran.stdout + ran.stderr
    assert file(folder).read_bytes() == before


def test_a_store_with_an_endless_trigger_is_refused(folder: Path) -> None:
    """No trigger runs when a move is recorded."""
    change(
        folder,
        "CREATE TABLE numbers (i)",
        ENDLESS,
        "CREATE TRIGGER busy AFTER INSERT ON games BEGIN INSERT INTO numbers SELECT i FROM endless; END",
    )

    ran = noughts("resume", typed="1\n", env=saving(folder))

    assert (ran.returncode, ran.stdout) == (1, "")
    assert "the trigger 'busy' on 'games' is not part of it" in ran.stderr


@pytest.mark.parametrize("started", [-7, 2**62, "soon", b"\0", 1e300])
@pytest.mark.parametrize("task", ["games", "resume", "verify"])
def test_games_with_a_bad_start_time_do_not_block(task: str, started: object, folder: Path) -> None:
    change(folder, "UPDATE games SET started = ?", values=(started,))

    ran = noughts(*READING[task], env=saving(folder))

    assert "Traceback" not in ran.stderr
    assert ran.returncode == {"games": 0, "resume": 2, "verify": 1}[task]
