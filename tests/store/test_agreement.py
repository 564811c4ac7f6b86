"""All engines give the same answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from noughts import Event, NoughtsError
from noughts.store.appends import append_of
from noughts.store.base import EventStore, GameFilter
from noughts.store.documents import Write
from noughts.store.records import Record
from noughts.store.urls import open_store
from noughts.store.verify import verify
from noughts.store.watch import Watch
from support.length import short_or_long
from support.played import NOW
from support.postgres_server import Server
from support.store_games import row_of
from support.strategies import any_event, game_filters, histories

EXAMPLES, STEPS = short_or_long((8, 30), (100, 50))

names = st.sampled_from(["a", "b", "ab", "B"])
keys = st.sampled_from(["k1", "k2", "k3"])
shifts = st.sampled_from([0, 0, 0, 0, -1, -3, 1])
some_events = histories().map(lambda history: history[:5]) | st.lists(any_event, max_size=3)
filters = game_filters(["Ann", "0", "A"], ["", "a", "ab", "B", "_"])


def rows_of(records: Iterable[Record]) -> list[object]:
    """Return records to compare; the key and the hash of a deletion are random."""
    return [(row_of(one)[:3], "deleted") if one.is_deletion else one for one in records]


class Agreement(RuleBasedStateMachine):
    """Stores of several kinds to which the same things happen."""

    def __init__(self, *urls: str) -> None:
        super().__init__()
        self.stores: list[EventStore] = [open_store(url) for url in urls]
        self.watches: list[Watch] = [store.watch_all() for store in self.stores]
        self.cursors = [("", "")] * len(urls)
        self.times = 0
        self.last: Callable[[EventStore], object] | None = None

    def compare(self, ask: Callable[[EventStore], object]) -> object:
        """Ask all, and return what they agree on: an answer, or a refusal and its message."""
        first, *others = [_answer(ask, store) for store in self.stores]
        for other in others:
            assert other == first
        return first

    @rule(
        game=names, found=some_events, key=keys, shift=shifts, text=st.none() | st.text("ab", max_size=2)
    )
    def append(self, game: str, found: list[Event], key: str, shift: int, text: str | None) -> None:
        """Append at the end of a game, before it or beyond it, sometimes with a document."""
        expected = max(0, self.stores[0].versions([game]).get(game, 0) + shift)
        write = None if text is None else self.write_of(game, text, 0, "open")
        self.times += 1

        def append(store: EventStore) -> object:
            item = append_of(game, expected, found, key=key, at=NOW + self.times // 2, document=write)
            store.record([item])
            return str(item.refusal)

        self.last = append
        self.again()

    @rule(name=names, text=st.text("ab\n", max_size=3), shift=shifts, label=st.sampled_from(["", "open"]))
    def write(self, name: str, text: str, shift: int, label: str) -> None:
        """Write a document after its last revision, before it or beyond it."""
        write = self.write_of(name, text, shift, label)

        def record(store: EventStore) -> object:
            store.record([write])
            return str(write.refusal)

        self.last = record
        self.again()

    def write_of(self, name: str, text: str, shift: int, label: str) -> Write:
        document = self.stores[0].document(name)
        revision = (document.revision if document else 0) + shift
        return Write(name, text, expected=max(0, revision), label=label)

    @rule()
    def again(self) -> None:
        if self.last:
            self.compare(self.last)

    @rule(game=names)
    def delete(self, game: str) -> None:
        self.compare(lambda store: store.delete(game, at=NOW))

    @rule(game=names, after=st.integers(-1, 12))
    def read(self, game: str, after: int) -> None:
        self.compare(lambda store: store.read(game, after))

    @rule(limit=st.integers(0, 9), is_first=st.booleans())
    def read_pages(self, limit: int, is_first: bool) -> None:  # noqa: FBT001 - drawn by name
        """Read the next page of the feed and of the documents, or the first one."""
        pages = []
        for number, (store, cursors) in enumerate(zip(self.stores, self.cursors, strict=True)):
            feed_cursor, documents_cursor = ("", "") if is_first else cursors
            records, feed_cursor = store.feed(feed_cursor, limit)
            documents, documents_cursor = store.changed_documents(documents_cursor, limit)
            self.cursors[number] = feed_cursor, documents_cursor
            pages.append((rows_of(records), documents))
        assert all(page == pages[0] for page in pages)

    @rule()
    def go_to_the_end(self) -> None:
        self.cursors = [(store.feed_end(), store.documents_end()) for store in self.stores]

    @rule(
        wanted=filters,
        limit=st.integers(0, 4),
        before=st.none() | st.tuples(st.integers(NOW - 1, NOW + 9), names),
    )
    def list_games(self, wanted: GameFilter, limit: int, before: tuple[int, str] | None) -> None:
        self.compare(lambda store: store.catalogue(wanted, limit, before))

    @rule(limit=st.integers(0, 4))
    def list_all(self, limit: int) -> None:
        """List all games with their positions, their versions, and the documents with a label."""
        self.compare(lambda store: store.games())
        self.compare(lambda store: store.versions(["a", "b", "ab", "B", "c"]))
        self.compare(lambda store: store.labelled("open", limit))

    @rule()
    def look(self) -> None:
        first, *others = [rows_of(watch.wait(0)) for watch in self.watches]
        for other in others:
            assert other == first

    @invariant()
    def all_have_the_same(self) -> None:
        self.compare(lambda store: (rows_of(store.feed()[0]), store.changed_documents()[0]))

    def teardown(self) -> None:
        try:
            self.compare(verify)
        finally:
            for store in self.stores:
                store.close()


def _answer(ask: Callable[[EventStore], object], store: EventStore) -> object:
    try:
        return ask(store)
    except (NoughtsError, ValueError) as refusal:
        return type(refusal), str(refusal)


@pytest.mark.torture
def test_all_engines_answer_alike(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> None:
    class Alike(Agreement):
        def __init__(self) -> None:
            place = tmp_path_factory.mktemp("store") / "games.db"
            super().__init__("memory:", f"sqlite:{place}", postgres.place())

    run_state_machine_as_test(Alike, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS))
