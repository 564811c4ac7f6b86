"""Damages a store in every way: it is noticed, but for what a hash in each row cannot show."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from noughts.store.errors import CorruptStore
from noughts.store.urls import open_store
from support.command import script
from support.damages import (
    COLUMNS,
    DAMAGES,
    LISTED_COLUMNS,
    UNNOTICED,
    Place,
    faults_of,
    flip_a_bit,
    play,
    wrongly_shown,
)
from support.figures import Property, tally
from support.length import short_or_long
from support.postgres_server import Server

TIMES = short_or_long(2, 100)
TIMES_ON_A_SERVER = short_or_long(1, 10)
FIGURE = "{noticed:,} of {times:,} times noticed, {shown} games shown that were not: KIND"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a store that is to be copied and damaged."""
    path = tmp_path_factory.mktemp("template") / "games.db"
    with open_store(f"sqlite:{path}") as store:
        play(store, Random(1))
    return path


@pytest.fixture
def files(template: Path, tmp_path: Path) -> Iterator[Place]:
    return (
        Place(f"sqlite:{shutil.copy(template, tmp_path / f'{number}.db')}") for number in range(TIMES)
    )


@pytest.fixture
def databases(postgres: Server) -> Iterator[Place]:
    return (Place(_played(postgres.place(), number)) for number in range(TIMES_ON_A_SERVER))


def _played(url: str, seed: int) -> str:
    with open_store(url) as store:
        play(store, Random(seed))
    return url


@pytest.fixture(params=["files", "databases"])
def places(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Return sound stores of one engine."""
    found: Iterator[Place] = request.getfixturevalue(request.param)
    return found


@pytest.mark.torture
@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_to_a_row_is_noticed_and_nothing_wrong_is_shown(
    kind: str, places: Iterator[Place], record_property: Property
) -> None:
    missed = []
    with tally(record_property, FIGURE.replace("KIND", kind)) as numbers:
        for number, place in enumerate(places):
            assert faults_of(place.url) == []
            sound = place.games()
            DAMAGES[kind](place, Random(number))
            faults = faults_of(place.url)
            shown = [] if "put back" in kind else wrongly_shown(place.url, sound)
            numbers.update(times=1, noticed=bool(faults), shown=len(shown))
            if shown or not faults:
                missed.append(number)
    assert missed == []


@pytest.mark.torture
def test_a_file_that_was_cut_short_is_noticed_and_not_changed(files: Iterator[Place]) -> None:
    for number, place in enumerate(files):
        sound, size = place.games(), place.path.stat().st_size
        os.truncate(place.path, Random(number).randrange(1, size))
        left = place.path.read_bytes()
        assert faults_of(place.url)
        assert wrongly_shown(place.url, sound) == []
        assert place.path.read_bytes() == left


@pytest.mark.torture
@pytest.mark.parametrize("column", [*COLUMNS, *LISTED_COLUMNS])
def test_a_flipped_bit_in_any_column_is_noticed_when_it_is_read(
    column: str, places: Iterator[Place]
) -> None:
    """Alone or in a list; the other games are as they were."""
    for number, place in enumerate(places):
        sound = place.games()
        game = flip_a_bit(place, Random(number), (column,))
        with open_store(place.url, create=False) as store:
            if column in COLUMNS[1:]:
                with pytest.raises(
                    CorruptStore, match=f"game '{game}' has changed since it was recorded"
                ):
                    store.read(game)
            for each in store.games(limit=100):
                is_damaged = each.id == game or each.id not in sound
                assert (each.game is None) == (each.fault is not None) == is_damaged
            if column == "id":
                assert store.read(game) is None
        assert len(faults_of(place.url)) == 1
        assert wrongly_shown(place.url, sound) == []


# What is not noticed


@pytest.mark.torture
@pytest.mark.parametrize("kind", UNNOTICED)
def test_what_a_hash_in_each_row_cannot_show_is_not_noticed(kind: str, places: Iterator[Place]) -> None:
    """A whole row that is gone, old or another store's; `docs/store.md` says so."""
    for number, place in enumerate(places):
        before = place.rows("SELECT id, hash FROM games ORDER BY id"), place.rows("SELECT * FROM counter")
        UNNOTICED[kind](place, Random(number))
        after = place.rows("SELECT id, hash FROM games ORDER BY id"), place.rows("SELECT * FROM counter")
        assert after != before
        assert faults_of(place.url) == []


@pytest.mark.parametrize("kind", ["the log removed", "the log cut"])
def test_a_log_that_is_lost_after_a_crash_is_not_noticed(kind: str, tmp_path: Path) -> None:
    """Then the last games are missing; what is shown is as it was at some time."""
    path = tmp_path / "games.db"
    ended = subprocess.run([*script("damages"), f"sqlite:{path}", "3"], check=False)
    assert ended.returncode == -signal.SIGKILL
    shutil.copytree(tmp_path, tmp_path / "sound")
    log = path.with_name("games.db-wal")
    if kind == "the log removed":
        log.unlink()
    else:
        os.truncate(log, log.stat().st_size * 2 // 3)
    path.with_name("games.db-shm").unlink()
    assert faults_of(f"sqlite:{path}") == faults_of(f"sqlite:{tmp_path / 'sound' / 'games.db'}") == []
    left, sound = (
        Place(f"sqlite:{folder / 'games.db'}").games() for folder in (tmp_path, tmp_path / "sound")
    )
    assert left.keys() < sound.keys()


def test_another_file_in_the_place_of_a_closed_store_is_not_noticed(files: Iterator[Place]) -> None:
    """An old copy, or another store: nothing outside the file says what must be in it."""
    place, old = next(files), next(files)
    with open_store(place.url) as store:
        store.delete(place.a_game(Random(0)).id)
    now = place.games()
    shutil.copy(old.path, place.path)
    assert [game.hash for game in place.games().values()] != [game.hash for game in now.values()]
    assert faults_of(place.url) == []
