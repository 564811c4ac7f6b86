"""Closing a store while others use it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest

from noughts import CreateGame, EventStore, Service, decide, open_store
from noughts.store.appends import append_of
from noughts.store.documents import Document
from noughts.store.errors import StoreUnavailable
from noughts.store.sqlite import SQLiteStore
from noughts.store.verify import verify
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS
from support.other_process import RECORDED, other_process
from support.store_games import everything, row_of, turns


def test_a_closed_store_refuses_everything(store: EventStore) -> None:
    watch = store.watch_all()
    store.close()
    store.close()

    attempts: list[Callable[[], object]] = [
        lambda: Service(store).handle("game", CreateGame()),
        lambda: Service(store).start("game", [CreateGame()]),
        lambda: store.record([append_of("game", 0, decide(None, CreateGame()), key="key", at=0)]),
        lambda: store.restore([], [Document("name", 1, "", "text", "key")]),
        lambda: store.delete("game", at=0),
        lambda: store.read("game"),
        lambda: store.versions(["game"]),
        store.feed,
        store.feed_end,
        store.games,
        store.check,
        lambda: store.watch("game"),
        store.watch_all,
        store.changes,
        watch.wait,
        lambda: store.document("name"),
        lambda: store.labelled("open"),
        store.changed_documents,
        store.documents_end,
        lambda: store.write_document("name", "text", expected=0),
    ]
    for attempt in attempts:
        with pytest.raises(StoreUnavailable, match="the store is closed"):
            attempt()


def test_closing_waits_for_the_commit_in_progress(url: str) -> None:
    """Every answered command is stored, every later one is refused, and nothing crashes."""
    store = open_store(url)
    answered: list[str] = []
    many = Event()

    def write(writer: int) -> None:
        for number in range(100_000):
            game = f"game-{writer}-{number}"
            try:
                Service(store).handle(game, CreateGame())
                store.read(game)
            except StoreUnavailable:
                return
            answered.append(game)
            if len(answered) > 50:
                many.set()

    def close() -> None:
        assert many.wait(LONG_DEADLINE_SECONDS)
        store.close()

    in_threads(close, *(partial(write, writer) for writer in range(6)))

    with open_store(url) as again:
        verify(again)
        assert again.versions(answered) == dict.fromkeys(answered, 3)


def test_a_reader_that_ends_while_the_store_is_closed_is_closed_too(tmp_path: Path) -> None:
    """The last connection leaves only the checkpoint beside the file."""
    store = SQLiteStore(str(tmp_path / "games.db"))
    Service(store).handle("game", CreateGame())

    class Readers(list[Any]):
        """Closes the store when a reader is about to be kept."""

        def append(self, reader: object) -> None:
            store.close()
            super().append(reader)

    store._readers = Readers(store._readers)  # noqa: SLF001 - nothing else happens at that moment
    assert store.versions(["game"]) == {"game": 3}
    assert {place.name for place in tmp_path.iterdir()} == {"games.db", "games.db-checkpoint"}


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
