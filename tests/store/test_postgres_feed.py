"""The feed on PostgreSQL: nothing is missed or repeated, whatever is open, and on whichever server."""

from __future__ import annotations

from contextlib import ExitStack, closing
from random import Random
from threading import Event, Thread

import psycopg
import pytest

from noughts.store import postgres as engine
from noughts.store.base import EventStore
from noughts.store.documents import Document
from noughts.store.records import Record
from noughts.store.urls import open_store
from support.at_once import in_processes
from support.command import script
from support.deadlines import LONG_DEADLINE_SECONDS
from support.feed_writer import GAMES
from support.figures import Property, tally
from support.length import short_or_long
from support.played import check_recorded, check_whole, feed_of, fill, game_of, play
from support.postgres_server import Server
from support.store_games import everything

COMMANDS = short_or_long(60, 1500)
"""How many commands each process records."""

PROCESSES = 8

FIGURE = (
    "{processes} processes on {games} shared games, {held:,} transactions held open: {recorded:,} records"
    " and {stale:,} stale versions, {missed} missed, {doubled} doubled, {deadlocks} deadlocks"
)

CREATED, PLACED = game_of("5")

# A table for transactions to write to, and a server that takes its time for every row.
SLOW = (
    "CREATE TABLE held (number int);"
    "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql"
    " AS $$ BEGIN PERFORM pg_sleep(random() * 0.002); RETURN new; END $$;"
    "CREATE TRIGGER pause BEFORE INSERT ON noughts_records FOR EACH ROW EXECUTE FUNCTION pause();"
    "CREATE TRIGGER pause BEFORE INSERT ON noughts_documents FOR EACH ROW EXECUTE FUNCTION pause()"
)

FAST = "DROP FUNCTION pause CASCADE"  # with its triggers, which are not part of a store


# Many processes write while transactions are open


class Reader:
    """Follows the feed and the changes of documents, in pages of any size."""

    def __init__(self, store: EventStore, chance: Random) -> None:
        self.records: list[Record] = []
        self.documents: list[Document] = []
        self._store = store
        self._chance = chance
        self._cursors = "", ""
        self._is_over = Event()
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join(LONG_DEADLINE_SECONDS)
        while self._read_on():
            pass

    def _follow(self) -> None:
        changes = self._store.changes()
        while not self._is_over.is_set():
            if not self._read_on():
                changes.wait(0.01)

    def _read_on(self) -> bool:
        feed, changes = self._cursors
        records, feed = self._store.feed(feed, self._chance.randrange(1, 50))
        documents, changes = self._store.changed_documents(changes, self._chance.randrange(1, 50))
        self._cursors = feed, changes
        self.records += records
        self.documents += documents
        return bool(records or documents)


class Holder:
    """Holds transactions open that have written something, one after the other."""

    def __init__(self, url: str, chance: Random) -> None:
        self.held = 0
        self._url = url
        self._chance = chance
        self._is_over = Event()
        self._thread = Thread(target=self._hold, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join(LONG_DEADLINE_SECONDS)

    def _hold(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._is_over.is_set():
                with connection.transaction(force_rollback=self._chance.random() < 0.5):
                    connection.execute("INSERT INTO held VALUES (1)")
                    self._is_over.wait(self._chance.random() * 0.1)
                self.held += 1


def deadlocks(server: Server) -> int:
    ((count,),) = server.execute("SELECT sum(deadlocks)::int FROM pg_stat_database")
    assert isinstance(count, int)
    return count


@pytest.mark.torture
def test_a_reader_of_the_feed_misses_nothing_while_transactions_are_open(
    postgres: Server, postgres_url: str, record_property: Property
) -> None:
    """Eight processes write to shared games: each record is in the feed once, each game in order."""
    before = deadlocks(postgres)
    with ExitStack() as stack, tally(record_property, FIGURE) as numbers:
        store = stack.enter_context(open_store(postgres_url))
        postgres.execute(SLOW, url=postgres_url)
        reader = Reader(store, Random(0))
        holders = [Holder(postgres_url, Random(seed)) for seed in range(2)]
        writers = [
            (*script("feed_writer"), postgres_url, str(number), str(COMMANDS))
            for number in range(PROCESSES)
        ]
        acknowledged: list[str] = []
        for printed in in_processes(*writers, timeout=None):
            stale, *lines = printed.splitlines()
            numbers["stale"] += int(stale)
            acknowledged += lines
        for holder in holders:
            holder.end()
        reader.end()
        postgres.execute(FAST, url=postgres_url)
        recorded = everything(store)
        missed = set(recorded) - set(reader.records)
        numbers.update(
            processes=PROCESSES,
            games=GAMES,
            held=sum(holder.held for holder in holders),
            recorded=len(recorded),
            missed=len(missed),
            doubled=len(reader.records) - len(set(reader.records)),
            deadlocks=deadlocks(postgres) - before,
        )
        assert not missed
        assert reader.records == recorded  # once, and in order
        assert numbers["deadlocks"] == 0
        assert numbers["stale"] > 0
        assert sorted(acknowledged) == sorted(f"{game} {at} {key}" for game, at, _, key, *_ in recorded)
        assert len(acknowledged) >= PROCESSES * COMMANDS
        check_documents(store, reader.documents, recorded)
        check_recorded(store)


def check_documents(store: EventStore, seen: list[Document], records: list[Record]) -> None:
    """Check that the last revision of each document was seen, and no older one after it."""
    latest: dict[str, Document] = {}
    for document in seen:
        before = latest.get(document.name)
        assert before is None or before.revision < document.revision
        latest[document.name] = document
    assert latest
    assert {document.name: document for document in store.documents_named(latest)} == latest
    last = {record.game: record.key for record in records}
    written = {record.game: 0 for record in records}
    for record in records:
        written[record.game] += 1
    for name, document in latest.items():
        assert (document.revision, document.text) == (written[name], last[name])


# What is open delays the feed, never play


def test_an_open_transaction_delays_the_feed_and_never_play(
    postgres: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games are played, read and watched meanwhile; the feed shows them when the transaction ends."""
    monkeypatch.setattr(engine, "POLL_INTERVAL_SECONDS", 0.05)
    with (
        open_store(postgres_url) as store,
        open_store(postgres_url) as other,
        postgres.connect() as connection,
        other.watch("game") as watch,
    ):
        play(store, "before", [CREATED])
        end = store.feed_end()
        late = other.watch_all(end)
        with connection.transaction():
            connection.execute("SELECT pg_current_xact_id()")
            play(store, "game", [CREATED, PLACED])
            store.write_document("game", "text", expected=0, label="open")
            seen: list[Record] = []
            while len(seen) < 2:
                seen += watch.wait(LONG_DEADLINE_SECONDS)

            assert tuple(seen) == other.read("game")
            assert other.versions(["game"]) == {"game": 6}
            assert [(game.id, game.version) for game in other.games(limit=1)] == [("game", 6)]
            assert other.labelled("open") == (other.document("game"),)
            assert late.wait(0) == ()
            assert other.feed(end) == ((), end)
            assert (other.feed_end(), other.documents_end()) == (end, "")
            assert other.changed_documents() == ((), "")

        assert list(late.wait(LONG_DEADLINE_SECONDS)) == feed_of(other, end) == seen
        assert other.changed_documents()[0] == (other.document("game"),)


# Another server counts its own transactions


class Follower:
    """Reads the feed and the changes of documents on from where it was."""

    def __init__(self, store: EventStore) -> None:
        self._feed, self._changes = store.feed_end(), store.documents_end()

    def news(self, store: EventStore) -> tuple[list[Record], list[Document]]:
        """Return what is new since the last time, read one by one."""
        records: list[Record] = []
        documents: list[Document] = []
        is_end = False
        while not is_end:
            page, self._feed = store.feed(self._feed, 1)
            changed, self._changes = store.changed_documents(self._changes, 1)
            records += page
            documents += changed
            is_end = not page and not changed
        return records, documents


def raise_transaction_ids(server: Server) -> None:
    server.execute(
        "DO $$ BEGIN FOR i IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"
    )


def test_cursors_stay_valid_after_a_dump_and_restore(postgres: Server) -> None:
    """On the other server nothing is missed or repeated, though its transaction ids are smaller."""
    postgres.execute("CREATE DATABASE dumped")
    raise_transaction_ids(postgres)
    with open_store(postgres.url("dumped")) as store:
        fill(store)
        middle = Follower(store)
        for number in range(4):
            store.write_document(f"d{number % 3}", str(number), expected=number // 3, label="open")
        play(store, "late", [CREATED])
        end = Follower(store)
        old, documents = feed_of(store), store.changed_documents()[0]
    with closing(Server()) as server:
        server.load(postgres.dump("dumped"))
        ((last,),) = server.execute("SELECT min(xid) > pg_current_xact_id() FROM noughts_records")
        assert last, "the ids of the old server must be larger"
        with open_store(server.url()) as store, open_store(server.url()) as other:
            assert (feed_of(store), store.changed_documents()[0]) == (old, documents)
            assert middle.news(store) == ([*store.read("late")], [*documents])
            assert end.news(store) == ([], [])
            for number in range(2):
                play(other, "late", [PLACED], 3 + 3 * number)
                other.write_document("d1", "new", expected=1 + number, label="open")
                other.write_document(f"new{number}", "", expected=0)
                records = [*store.read("late", 3 + 3 * number)]
                changed = [store.document("d1"), store.document(f"new{number}")]
                assert middle.news(store) == end.news(store) == (records, changed)
            assert feed_of(store)[: len(old)] == old
            check_whole(feed_of(store))
            names = [document.name for document in store.changed_documents()[0]]
            assert names == ["d2", "d0", "new0", "d1", "new1"]
            assert [document.name for document in store.labelled("open")] == ["d1", "d0", "d2"]
            check_recorded(store)
        assert server.execute("SELECT generation FROM noughts_store") == [(2,)]


def test_a_move_to_another_server_is_noticed_by_a_writer_that_stays(
    postgres: Server, postgres_url: str
) -> None:
    """A store that is open when its server changes records in a new generation once it reconnects."""
    with open_store(postgres_url) as store:
        play(store, "game", [CREATED])
        postgres.execute("UPDATE noughts_store SET server = server - 1", url=postgres_url)
        postgres.execute(
            "UPDATE noughts_records SET xid = (xid::text::bigint + 1000000)::text::xid8", url=postgres_url
        )
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        play(store, "game", [PLACED], 3)

        found = postgres.execute(
            "SELECT version, generation FROM noughts_records ORDER BY version", url=postgres_url
        )
        assert found == [(0, 1), (3, 2)]
        assert feed_of(store) == [*store.read("game")]
