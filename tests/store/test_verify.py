"""Verifying a store: every fault is found and named, and the rest is counted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from noughts.store import base
from noughts.store.base import Store, StoredGame, nothing
from noughts.store.errors import CorruptStore
from noughts.store.rows import LISTED, Columns, entries_of
from noughts.store.urls import open_store
from noughts.store.verify import VerifyReport, examine, verify
from support.damages import Place, faults_of
from support.played import CREATED, NOW, PLACED, X_WINS, fill, found, game_of, play

GAMES = ("won", "lost", "drawn", "unfinished", "given-up", "Empty_1")
"""Those that `fill` leaves."""


def filled(url: str) -> dict[str, int]:
    """Fill a store, and return the number of each game's events."""
    with open_store(url) as store:
        fill(store)
        return {game: found(store, game).version for game in GAMES}


def test_a_sound_store_is_counted(store: Store) -> None:
    assert verify(store) == VerifyReport(0, 0, ())
    fill(store)
    shares: list[float] = []

    report = examine(store, shares.append)

    assert (
        report == verify(store) == VerifyReport(6, sum(found(store, game).version for game in GAMES), ())
    )
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


def test_others_may_play_meanwhile(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games that change, begin and are deleted between two pages are no faults."""
    fill(store)
    monkeypatch.setattr(base, "PAGE_ROWS", 2)

    def go_on(_share: float) -> None:
        play(store, f"-{store.count()}", game_of("5"))
        if store.read("unfinished"):
            store.delete("unfinished")
            store.count_hour(store.hours())

    assert examine(store, go_on).faults == ()


# Every kind of fault


def unsound(
    *steps: tuple[Any, ...], game: str = "won", keys: str = "abcdefg", room: str = ""
) -> Callable[[Place], None]:
    """Return the damage that leaves a row with a valid hash, but a game that cannot be."""

    def damage(place: Place) -> None:
        entries = entries_of([(keys[number], NOW, step) for number, step in enumerate(steps)])
        stored = nothing("won").followed_by(entries, room=room)
        changed = StoredGame(game, 1, 0, stored.record, room, entries)
        if game != "won":
            place.put("won", id=game)
        place.rewrite(changed, Columns())

    return damage


def put(**values: object) -> Callable[[Place], None]:
    return lambda place: place.put("won", **values)


CHANGED = "game 'won' has changed since it was recorded"
LISTS = "the columns for lists are wrong about game 'won'"
COUNT = "the count of hours has changed since it was recorded"

ROWS: dict[str, tuple[Callable[[Place], None], str]] = {
    "id": (put(id="win"), "game 'win' has changed since it was recorded"),
    "hash": (put(hash=b""), CHANGED),
    "revision": (put(revision=7), CHANGED),
    "hour": (put(hour=1), CHANGED),
    "record": (put(record=""), CHANGED),
    "room": (put(room="{}"), CHANGED),
    **{
        name: (put(**{name: 5 if name in ("started", "played") else "?"}), LISTS)
        for name in LISTED.split(", ")
    },
    "unlisted": (put(started=None), LISTS),
    "an older record with the lists of now": (unsound(CREATED), LISTS),
    "half a command": (
        unsound(CREATED[:2]),
        "game 'won' is unsound: the history stops after event 2, before playerActive(X)",
    ),
    "an illegal move": (
        unsound(CREATED, PLACED, PLACED),
        "game 'won' is unsound: event 7 is playerPlacedToken(1,1,X) instead of ",
    ),
    "a key twice": (
        unsound(CREATED, PLACED, keys="aa"),
        "game 'won' is unsound: two commands have the same key",
    ),
    "a bad id": (unsound(CREATED, game="w n"), "game 'w n' is unsound: the id of a game has 1 to 64 "),
    "a room that is not JSON": (unsound(CREATED, room="harm"), "a room is not an object in JSON: 'harm'"),
    "hours": (lambda place: place.do("UPDATE counter SET hours = 5"), COUNT),
    "the hash of the hours": (lambda place: place.do("UPDATE counter SET hash = ?", b""), COUNT),
    "no hours": (lambda place: place.do("DELETE FROM counter"), COUNT),
}


@pytest.mark.parametrize("kind", ROWS)
def test_a_fault_is_named_and_the_rest_counted(url: str, kind: str) -> None:
    versions = filled(url)
    damage, fault = ROWS[kind]
    damage(Place(url))

    with open_store(url, create=False) as store:
        report = examine(store)
        with pytest.raises(CorruptStore) as refusal:
            verify(store)
        shown = {each.id for each in store.games() if each.game}
        if fault == CHANGED:
            with pytest.raises(CorruptStore, match=CHANGED):
                store.read("won")

    assert [*report.faults] == [one for one in report.faults if one.startswith(fault)] != []
    assert str(refusal.value) == report.faults[0]
    if fault != COUNT:
        del versions["won"]
    assert shown == versions.keys()
    assert report[:2] == (len(versions), sum(versions.values()))


def test_every_fault_is_named(url: str) -> None:
    filled(url)
    place = Place(url)
    place.do("UPDATE games SET revision = revision + 1")
    place.do("UPDATE counter SET hours = 5")

    with open_store(url, create=False) as store:
        assert [*examine(store).faults] == [
            *(f"game '{game}' has changed since it was recorded" for game in sorted({*GAMES, "deleted"})),
            COUNT,
        ]


# Tables that are not those of a store

TABLES = [
    ("sqlite", "DROP INDEX games_by_x", "the index games_by_x is missing"),
    (
        "sqlite",
        "DROP INDEX games_by_o; CREATE INDEX games_by_o ON games (o)",
        "the index 'games_by_o' is not the one that the store was made with",
    ),
    ("sqlite", "CREATE TABLE moves (id TEXT)", "the table 'moves' on 'moves' is not part of a store"),
    ("sqlite", "DROP TABLE counter", "the table counter is missing"),
    ("postgres", "DROP TABLE games", "the store on PostgreSQL is damaged: "),
    (
        "postgres",
        "DROP TABLE games; CREATE VIEW games AS SELECT 1 AS id",
        "the store on PostgreSQL is damaged: ",
    ),
]


@pytest.mark.parametrize(("engine", "statements", "fault"), TABLES)
def test_tables_that_were_changed_are_noticed(
    engine: str, statements: str, fault: str, request: pytest.FixtureRequest
) -> None:
    place = Place(request.getfixturevalue(f"{engine}_url"))
    filled(place.url)
    assert faults_of(place.url) == []
    for statement in statements.split("; "):
        place.do(statement)
    assert any(each.startswith(fault) for each in faults_of(place.url))


# Files of which SQLite can't read a page

MANY = 60


def save_many(path: Path, first: int, end: int) -> None:
    with open_store(f"sqlite:{path}") as store:
        for number in range(first, end):
            play(store, f"game{number * 7 % MANY}", game_of(X_WINS, "Ann", f"Bob{number}"))


def pages_of(path: Path) -> dict[int, str | None]:
    """Return the pages of a file, with the name of the table or index that begins there."""
    with closing(sqlite3.connect(path)) as file:
        roots = dict(file.execute("SELECT rootpage, name FROM sqlite_schema"))
    return {page: roots.get(page) for page in range(1, path.stat().st_size // PAGE_BYTES + 1)}


def put_page(path: Path, page: int, contents: bytes) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(contents)


PAGE_BYTES = 4096


def test_a_lost_page_hides_no_other_game(tmp_path: Path) -> None:
    """Each page of the file in turn; without the root of the table nothing can be found."""
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    save_many(whole, 0, MANY)

    for page, name in pages_of(whole).items():
        if page == 1:  # the file's header
            continue
        shutil.copy(whole, damaged)
        put_page(damaged, page, bytes(PAGE_BYTES))
        with open_store(f"sqlite:{damaged}", create=False) as store:
            report = examine(store)
            with pytest.raises(CorruptStore):
                verify(store)
        lost = {"games": MANY, None: 4}.get(name, 0)
        assert MANY - lost <= report.games <= MANY, (page, name)
        if report.games < MANY:
            assert report.faults[-1].endswith(f": {MANY - report.games} of its games can't be read")


def test_an_index_that_lacks_games_hides_none(tmp_path: Path) -> None:
    """As a page that was not written before a power cut leaves it."""
    path = tmp_path / "games"
    save_many(path, 0, 20)
    [page] = [page for page, name in pages_of(path).items() if name == "sqlite_autoindex_games_1"]
    old = path.read_bytes()[(page - 1) * PAGE_BYTES : page * PAGE_BYTES]
    save_many(path, 20, 30)
    put_page(path, page, old)

    with open_store(f"sqlite:{path}", create=False) as store:
        report = examine(store)

    assert report.games == 30
    assert [fault for fault in report.faults if fault.startswith("SQLite finds: ")] != []
