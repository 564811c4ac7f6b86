"""Several store objects on one file, in one process and in two."""

from __future__ import annotations

from pathlib import Path
from random import Random

from noughts.store.sqlite import SQLiteStore
from support.other_process import RECORDED, other_process
from support.store_games import everything, row_of, turns


def test_closing_a_second_store_object_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    """Nothing is lost although file locks belong to the process, and closing any descriptor drops them.

    Without them, the next process to close the store would think that it is the last, and remove the
    write-ahead log to which the first one still writes.
    """
    path = str(tmp_path / "games.db")
    first, *more = turns("game", Random(0))
    with other_process("guest") as guest, SQLiteStore(path) as store:
        first.append_to(store)
        SQLiteStore(path).close()
        guest.send(f"sqlite:{path}")
        assert guest.receive() == RECORDED
        for turn in more:
            turn.append_to(store)
    with SQLiteStore(path) as store:
        found = [row_of(record) for record in everything(store) if record.game == "game"]
    assert found == [turn.row for turn in (first, *more)]
