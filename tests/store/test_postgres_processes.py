"""Several processes on one PostgreSQL server: what wakes them, and who wins where they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import psycopg
import pytest

from noughts import Mark, events
from noughts.store import postgres as engine
from noughts.store.appends import Append, append_of
from noughts.store.base import EventStore
from noughts.store.documents import Write
from noughts.store.errors import StaleVersion
from noughts.store.postgres import PostgresStore
from noughts.store.records import MAX_ID_CHARACTERS
from noughts.store.urls import open_store
from noughts.store.watch import ANYTHING, Subscription
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import DRAW, NOW, check_whole, feed_of, game_of, play
from support.postgres_server import Server
from support.proxy import PostgresProxy
from support.store_games import everything, follow, listen

CREATED, PLACED = game_of("5")
JOINED = (events.PlayerJoined(Mark.X, "Ann"),)

A_DAY = 86_400
END = "end"


@pytest.fixture(autouse=True)
def _notifications_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rely on notifications alone to wake a store; each commit checks for listeners."""
    monkeypatch.setattr(engine, "POLL_INTERVAL_SECONDS", A_DAY)
    monkeypatch.setattr(engine, "LISTENER_CHECK_SECONDS", 0)


@pytest.fixture
def stores(postgres_url: str) -> Iterator[tuple[EventStore, EventStore]]:
    with open_store(postgres_url) as here, open_store(postgres_url) as there:
        yield here, there


def collect(changes: Subscription, *names: str) -> set[str]:
    """Return all names that are reported until these are among them."""
    found: set[str] = set()
    while not found.issuperset(names):
        new = changes.wait(LONG_DEADLINE_SECONDS)
        assert new, f"only {found} were reported"
        found |= new
    return found


# Notifications


@contextmanager
def notifications(url: str) -> Iterator[Callable[[], list[str]]]:
    """Yield a function that returns the payloads sent since its last call."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("LISTEN noughts")

        def sent() -> list[str]:
            connection.execute("SELECT pg_notify('noughts', %s)", (END,))
            found: list[str] = []
            for notification in connection.notifies(timeout=LONG_DEADLINE_SECONDS):
                if notification.payload == END:
                    return [payload for payload in found if payload]
                found.append(notification.payload)
            raise AssertionError(found)

        yield sent


def wait_until_nobody_listens(server: Server) -> None:
    """Wait until the server has ended the connections of closed stores."""
    while server.execute(
        "SELECT 1 FROM pg_locks WHERE (classid, objid) = (%s, %s)", *engine.LISTENER_LOCK
    ):
        pass


def test_only_other_processes_are_notified(
    postgres: Server, postgres_url: str, stores: tuple[EventStore, EventStore]
) -> None:
    """Nothing is sent while nobody listens, or only the writer itself does."""
    here, there = stores
    wait_until_nobody_listens(postgres)
    with notifications(postgres_url) as sent:
        play(here, "a", [CREATED])
        here.write_document("b", "text", expected=0)
        assert sent() == []

        listen(here)
        play(here, "a", [PLACED], 3)
        assert sent() == []

        play(there, "c", [CREATED])
        there.delete("c", at=NOW)
        room = Write("room", "text", expected=0)
        there.record([append_of("d", 0, CREATED, key="k", at=NOW, document=room)])
        assert sent() == ["c", "c", "d room"]

        here.close()
        wait_until_nobody_listens(postgres)
        play(there, "e", [CREATED])
        assert sent() == []


def test_a_notification_is_sent_after_the_commit(
    proxy: PostgresProxy, proxied_url: str, stores: tuple[EventStore, EventStore]
) -> None:
    """Within the transaction it would lock the whole server."""
    _, listener = stores
    listen(listener)
    sent: list[str] = []

    def look(message: bytes) -> bool:
        sent.extend(
            word for word in ("BEGIN", "INSERT", "COMMIT", "pg_notify") if word.encode() in message
        )
        return False

    with open_store(proxied_url) as store:
        proxy.cut(look, "before")
        play(store, "game", [CREATED])
        store.write_document("game", "text", expected=0)
        assert sent == ["INSERT", "pg_notify", "BEGIN", "INSERT", "COMMIT", "pg_notify"]


def test_two_hundred_games_at_once_reach_a_listener(
    postgres_url: str, stores: tuple[EventStore, EventStore]
) -> None:
    """Their ids are split into payloads that PostgreSQL accepts."""
    here, there = stores
    changes = listen(there)
    games = [f"{number:0{MAX_ID_CHARACTERS}}" for number in range(200)]
    with notifications(postgres_url) as sent:
        here.record([append_of(game, 0, CREATED, key="k", at=NOW) for game in reversed(games)])
        payloads = sent()

    assert collect(changes, *games) - {END} == {*games}
    assert [name for payload in payloads for name in payload.split()] == games
    assert len(payloads) > 1
    assert max(map(len, payloads)) < 8000


def test_a_process_does_not_wake_itself(stores: tuple[EventStore, EventStore]) -> None:
    """Its own notifications come back to it, and are left out."""
    here, there = stores
    ours, theirs = listen(here), listen(there)
    play(here, "mine", [CREATED, PLACED])
    here.write_document("mine-too", "text", expected=0)
    play(there, "yours", [CREATED])

    assert collect(ours, "yours") == {"yours"}
    assert collect(theirs, "mine", "mine-too") == {"mine", "mine-too"}


def test_a_new_listener_is_noticed_at_once(
    stores: tuple[EventStore, EventStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a process that listens itself, even if it has just seen that nobody else does."""
    monkeypatch.setattr(engine, "LISTENER_CHECK_SECONDS", A_DAY)
    here, there = stores
    listen(here)
    version = play(here, "game", [CREATED])
    changes, found = listen(there), set[str]()
    number = 0
    while not found:  # forever, if it isn't
        version = here.append("game", JOINED, expected=version, key=f"key{number}", at=NOW)
        found = changes.wait(0.05) or set()
        number += 1

    assert found == {"game"}


def test_a_poll_makes_up_for_lost_notifications(
    stores: tuple[EventStore, EventStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "POLL_INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(PostgresStore, "_notify", lambda *_: None)
    here, there = stores
    changes = listen(there)
    with there.watch("game") as watch:
        seen, _ = in_threads(
            partial(follow, watch, len(game_of(DRAW))), partial(play, here, "game", game_of(DRAW))
        )
    assert seen == here.read("game")
    here.write_document("game", "text", expected=0)
    assert changes.wait(LONG_DEADLINE_SECONDS) is ANYTHING


# Where processes meet


def write_between(proxy: PostgresProxy, write: Callable[[], object]) -> None:
    """Write when the next batch is judged and about to be written."""
    is_written = False

    def look(message: bytes) -> bool:
        nonlocal is_written
        if not is_written and (b"BEGIN" in message or b"key-of-ours" in message):
            is_written = True
            write()
        return False

    proxy.cut(look, "before")


@pytest.mark.parametrize("theirs", [JOINED, PLACED])
@pytest.mark.parametrize("when", ["before", "between"])
def test_two_appends_behind_another_process_leave_no_gap(
    meeting: tuple[EventStore, EventStore],
    proxy: PostgresProxy,
    theirs: tuple[events.Event, ...],
    when: str,
) -> None:
    """The second of one commit counts on the first, and the first is too late."""
    store, rival = meeting

    def be_faster() -> None:
        rival.append("game", theirs, expected=3, key="theirs", at=NOW)

    if when == "before":
        be_faster()
    else:
        write_between(proxy, be_faster)
    appends = [
        append_of("game", 3, PLACED, key="key-of-ours", at=NOW),
        append_of("other", 0, CREATED, key="other", at=NOW),
        append_of("game", 6, JOINED, key="next", at=NOW),
    ]
    store.record(appends)

    assert isinstance(appends[0].refusal, StaleVersion)
    assert appends[1].refusal is None
    keys = ["key", "theirs"] + ["next"] * (theirs is PLACED)  # the game is at the version it names
    assert [record.key for record in rival.read("game")] == keys
    assert (appends[2].refusal is None) == (theirs is PLACED)
    check_whole(feed_of(rival))


@pytest.mark.parametrize("rivals", ["document", "record"])
def test_a_record_and_a_document_are_written_together_or_not_at_all(
    meeting: tuple[EventStore, EventStore], proxy: PostgresProxy, rivals: str
) -> None:
    """Another process takes the revision or the version when both were judged to be free."""
    store, rival = meeting

    def be_faster() -> None:
        if rivals == "document":
            rival.write_document("game", "theirs", expected=1)
        else:
            rival.append("game", PLACED, expected=3, key="theirs", at=NOW)

    write_between(proxy, be_faster)
    document, beside = Write("game", "ours", expected=1), Write("beside", "", expected=0)
    append = append_of("game", 3, PLACED, key="key-of-ours", at=NOW, document=document)
    store.record([append, beside])

    assert isinstance(append.refusal, StaleVersion)
    assert [record.key for record in rival.read("game")] == ["key"] + ["theirs"] * (rivals == "record")
    found = rival.document("game")
    assert found
    assert (found.revision, found.text) == ((2, "theirs") if rivals == "document" else (1, ""))
    assert rival.document("beside") == beside.document
    everything(rival)


def test_a_restore_that_meets_another_process_records_nothing(
    meeting: tuple[EventStore, EventStore], proxy: PostgresProxy
) -> None:
    store, rival = meeting
    write_between(proxy, lambda: rival.append("b", CREATED, expected=0, key="theirs", at=NOW))
    steps = [("a", 0, CREATED), ("b", 0, CREATED), ("b", 3, PLACED), ("c", 0, CREATED)]
    with pytest.raises(StaleVersion):
        store.restore([append_of(*step, key="key-of-ours", at=NOW) for step in steps])

    assert rival.versions("abc") == {"b": 3}
    everything(rival)


def test_a_deletion_that_meets_a_move_comes_after_it(
    meeting: tuple[EventStore, EventStore], proxy: PostgresProxy
) -> None:
    store, rival = meeting
    write_between(proxy, lambda: play(rival, "game", [PLACED], 3))
    store.delete("game", at=NOW)

    assert [(record.version, record.is_deletion) for record in feed_of(rival)] == [(6, True)]
    assert rival.document("game") is None
    everything(rival)


def test_documents_that_follow_each_other_in_one_commit_are_all_written(
    meeting: tuple[EventStore, EventStore],
) -> None:
    """Two games may be recorded with revisions of one document, and a write may follow."""
    store, rival = meeting
    writes = [Write("game", str(number), expected=1 + number) for number in range(3)]
    appends = [append_of(f"g{n}", 0, CREATED, key="k", at=NOW, document=writes[n]) for n in range(2)]
    store.record([*appends, writes[2]])

    assert [append.refusal for append in appends] == [None] * 2
    assert writes[2].refusal is None
    assert rival.document("game") == writes[2].document
    assert rival.versions(["g0", "g1"]) == {"g0": 3, "g1": 3}


HELD = {
    "records": "INSERT INTO noughts_records VALUES ('a', 3, 0, '', '', '', 1)",
    "documents": "SELECT 1 FROM noughts_documents WHERE name = 'a' FOR UPDATE",
    "a deletion": "SELECT 1 FROM noughts_documents WHERE name = 'a' FOR UPDATE",
}


@pytest.mark.parametrize("what", HELD)
def test_a_batch_that_waits_holds_nothing_that_comes_later(
    postgres: Server, postgres_url: str, stores: tuple[EventStore, EventStore], what: str
) -> None:
    """All writers lock in the order of names: no deadlock."""
    store, rival = stores
    for game in ("b", "a"):
        play(store, game, [CREATED])
        store.write_document(game, "", expected=0)
    writes = [Write(name, "ours", expected=1) for name in ("b", "a")]
    appends = [append_of(game, 3, PLACED, key="ours", at=NOW) for game in ("b", "a")]
    items: dict[str, list[Append | Write]] = {
        "records": [*appends],
        "documents": [*writes],
        "a deletion": [writes[0], Append("a", 3, "", key="ours", at=NOW)],
    }

    def be_faster() -> None:
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
        while not postgres.execute(waiting):
            pass
        if what == "records":
            play(rival, "b", [PLACED], 3)
        else:
            rival.write_document("b", "theirs", expected=1)
        connection.rollback()

    with psycopg.connect(postgres_url) as connection:
        connection.execute(HELD[what].encode())
        in_threads(partial(store.record, items[what]), be_faster)

    lost, won = items[what]
    assert (type(lost.refusal), won.refusal) == (StaleVersion, None)
    everything(rival)
