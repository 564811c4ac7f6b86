"""Several stores on one file, in one process and in two: none takes it away from another."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from noughts.store.sqlite import SQLiteStore
from store_games import everything, row_of, turns
from visiting import visitor
from visitor import RECORDED

if TYPE_CHECKING:
    from pathlib import Path


def test_a_second_store_in_the_same_process_leaves_the_first_its_file(tmp_path: Path) -> None:
    """Locks belong to the process: closing any descriptor of a file gives all its locks away.

    Then the next process to close the store takes itself for the last, and takes the write-ahead log
    away, into which the first one goes on writing.
    """
    path = str(tmp_path / "games.db")
    first, *more = turns("game", Random(0))
    with visitor("guest") as guest, SQLiteStore(path) as store:
        first.append_to(store)
        SQLiteStore(path).close()
        guest.send(f"sqlite:{path}")
        assert guest.heard() == RECORDED
        for turn in more:
            turn.append_to(store)
    with SQLiteStore(path) as store:
        found = [row_of(record) for record in everything(store) if record.game == "game"]
    assert found == [row for turn in (first, *more) for row in turn.rows]
