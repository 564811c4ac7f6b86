"""One store of two PostgreSQL databases: each game is in one of them, and play needs only that one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from random import Random
from typing import Any

import pytest

from noughts import CreateGame, Mark, PlaceToken
from noughts.core.errors import InvalidArgument
from noughts.service import Service
from noughts.store import postgres as engine
from noughts.store.appends import append_of
from noughts.store.base import EventStore, GameFilter
from noughts.store.documents import Document, Write
from noughts.store.errors import NoSuchGame, NotAStore, StaleVersion, StoreMissing, StoreUnavailable
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import DRAW, NOW, X_WINS, feed_of, fill, game_of, listed, play
from support.postgres_server import Server
from support.store_games import everything, follow, turns

CREATED, PLACED = game_of("5")
GAMES = [f"game{number}" for number in range(20)]

numbers = count(1)


@pytest.fixture
def urls(postgres: Server) -> Iterator[tuple[str, str]]:
    names = [f"shard{next(numbers)}" for _ in range(2)]
    with postgres.connect() as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}".encode())
    first, second = map(postgres.url, names)
    yield first, second
    with postgres.connect() as connection:
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def store(urls: tuple[str, str]) -> Iterator[EventStore]:
    with open_store(" ".join(urls)) as store:
        yield store


@pytest.fixture
def place_of(postgres: Server, urls: tuple[str, str]) -> Callable[[str], int]:
    """Return a function that looks up the number of the database that has a game or document."""

    def place_of(name: str) -> int:
        found = [
            number
            for number, url in enumerate(urls)
            if postgres.execute(
                "SELECT 1 FROM noughts_records WHERE game = %s"
                " UNION SELECT 1 FROM noughts_documents WHERE name = %s",
                name,
                name,
                url=url,
            )
        ]
        assert len(found) == 1
        return found[0]

    return place_of


def test_games_are_spread_and_played(store: EventStore, place_of: Callable[[str], int]) -> None:
    chance = Random(0)
    fill(store)
    for game in GAMES:
        for turn in turns(game, chance):
            turn.append_to(store)
    service = Service(store)
    service.handle("served", CreateGame())
    service.handle("served", PlaceToken(Mark.X, 4))

    assert {place_of(game) for game in GAMES} == {0, 1}
    assert service.look("served").version == 6
    assert store.versions(GAMES) == {game: store.read(game)[-1].next_version for game in GAMES}
    with pytest.raises(StaleVersion):
        store.append("served", PLACED, expected=3, key="late", at=NOW)
    everything(store)
    assert verify(store).games == len(GAMES) + 7


def test_what_is_recorded_at_once_is_judged_each_alone(store: EventStore) -> None:
    play(store, "game0", [CREATED])
    appends = [append_of(game, 0, CREATED, key="k", at=NOW) for game in GAMES]
    writes = [Write(game, "text", expected=0) for game in GAMES]
    store.record([*appends, *writes])
    store.record([])

    assert [append.game for append in appends if append.refusal] == ["game0"]
    late = [append_of(game, 0, CREATED, key="late", at=NOW) for game in GAMES]
    store.record(late)
    assert {type(append.refusal) for append in late} == {StaleVersion}
    assert [write.refusal for write in writes] == [None] * len(writes)
    assert len(feed_of(store)) == len(GAMES)


def test_lists_merge_by_time_and_are_paged(store: EventStore) -> None:
    chance = Random(1)
    times = [chance.randrange(5) for _ in GAMES]
    for game, at in zip(GAMES, times, strict=True):
        play(store, game, game_of(chance.choice((X_WINS, DRAW)), "Ann"), at=at)
    right = sorted(zip(times, GAMES, strict=True), reverse=True)

    assert [(game.started, game.id) for game in store.games(limit=100)] == right
    assert listed(store, 3) == right
    drawn = store.games(GameFilter(player="Ann", result="draw"), limit=100)
    assert 0 < len(drawn) < len(GAMES)
    assert {game.game.winner for game in drawn if game.game} == {None}


def test_a_cursor_has_a_place_in_each_database(store: EventStore) -> None:
    empty = store.feed_end()
    for game in GAMES:
        play(store, game, [CREATED])
        store.write_document(game, "text", expected=0)
    cursor, changes = store.feed_end(), store.documents_end()
    assert cursor.count("/") == changes.count("/") == 1
    assert sorted(feed_of(store, empty, 3)) == sorted(feed_of(store, "", 7))
    assert len(feed_of(store)) == len(GAMES)

    for game in GAMES[:6]:
        play(store, game, [PLACED], 3)
        store.write_document(game, "next", expected=1)
        records, cursor = store.feed(cursor)
        documents, changes = store.changed_documents(changes)
        assert [(record.game, record.version) for record in records] == [(game, 3)]
        assert [(document.name, document.revision) for document in documents] == [(game, 2)]
    for wrong in ("1.2.game.3", "//", f"{cursor}/", "a/b"):
        with pytest.raises(InvalidArgument, match="is not a cursor of this store"):
            store.feed(wrong)


def test_documents_are_beside_their_games(store: EventStore, place_of: Callable[[str], int]) -> None:
    for game in GAMES:
        document = Write(game, "text", expected=0, label="open")
        store.record([append_of(game, 0, CREATED, key="k", at=NOW, document=document)])
        place_of(game)
    found: dict[str, Document] = {one.name: one for one in store.documents_named(GAMES)}

    assert sorted(found) == sorted(GAMES)
    assert store.document("game7") == found["game7"]
    assert sorted(store.labelled("open", 100)) == sorted(found.values())
    assert len(store.labelled("open", 7)) == 7
    assert sorted(store.changed_documents()[0]) == sorted(found.values())
    for game in GAMES:
        append = append_of(game, 3, PLACED, key="next", at=NOW, document=Write("x", "", expected=0))
        with pytest.raises(InvalidArgument, match="a game's own document must have"):
            store.record([append])


def test_a_deleted_game_is_gone(store: EventStore) -> None:
    for game in GAMES:
        play(store, game, [CREATED])
        store.write_document(game, "text", expected=0)
    store.delete("game3", at=NOW)

    assert store.read("game3") == ()
    assert store.document("game3") is None
    with pytest.raises(NoSuchGame):
        store.append("game3", PLACED, expected=3, key="late", at=NOW)
    assert len(store.games(limit=100)) == len(GAMES) - 1
    everything(store)


def test_games_are_restored_to_their_databases(store: EventStore) -> None:
    with open_store("memory:") as source:
        fill(source)
        source.write_document("won", "text", expected=0)
        source.write_document("alone", "text", expected=0)
        appends = [
            append_of(record.game, record.version, record.events, key=record.key, at=record.at)
            for record in feed_of(source)
        ]
        store.restore(appends, source.changed_documents()[0])

        assert sorted(feed_of(store)) == sorted(feed_of(source))
        assert sorted(store.changed_documents()[0]) == sorted(source.changed_documents()[0])
    everything(store)


def test_games_of_both_databases_are_watched(
    store: EventStore, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LISTENER_CHECK_SECONDS", 0)
    games = GAMES[:6]
    with open_store(" ".join(urls)) as other:
        changes = store.changes()
        assert changes.wait(LONG_DEADLINE_SECONDS) is None

        seen, *each = in_threads(
            partial(follow, store.watch_all(), 2 * len(games)),
            *(partial(follow, store.watch(game), 2) for game in games),
            *(partial(play, other, game, [CREATED, PLACED]) for game in games),
        )
        assert isinstance(seen, tuple)
        assert sorted(seen) == sorted(feed_of(store))
        assert each[: len(games)] == [other.read(game) for game in games]


def test_other_urls_are_refused(store: EventStore, urls: tuple[str, str]) -> None:
    """In another order, or more or fewer of them: games would be looked for in the wrong place."""
    first, second = urls
    play(store, "game", [CREATED])
    for wrong in (f"{second} {first}", first, second, f"{first} {first}", f"{first} {second} {first}"):
        with pytest.raises(NotAStore, match=r"^that database is number . of the 2 databases of its"):
            open_store(wrong)
    with open_store(f"{first}  {second}", create=False) as again:
        assert feed_of(again) == feed_of(store)


def test_a_store_with_a_missing_part_is_missing(postgres: Server, urls: tuple[str, str]) -> None:
    with pytest.raises(StoreMissing, match="no store in that database"):
        open_store(" ".join(urls), create=False)
    with pytest.raises(StoreUnavailable, match="does not exist"):
        open_store(f"{urls[0]} {postgres.url('nowhere')}")


def test_a_store_that_is_closed_meanwhile_records_nothing_more(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that comes at the same moment gets the same error as a later one."""

    def submit(self: ThreadPoolExecutor, *work: Any) -> Any:  # noqa: ANN401 - whatever it takes
        store.close()
        return real_submit(self, *work)

    real_submit = ThreadPoolExecutor.submit
    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    appends = [append_of(game, 0, CREATED, key="k", at=NOW) for game in GAMES]
    store.record(appends)

    assert {str(append.refusal) for append in appends} == {"the store is closed"}


def test_a_database_that_is_away_stops_its_own_games_only(
    postgres: Server,
    store: EventStore,
    place_of: Callable[[str], int],
    urls: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others are played on; lists and the feed need all of them."""
    monkeypatch.setattr(engine, "OUTAGE_TIMEOUT_SECONDS", 0.2)
    for game in GAMES:
        play(store, game, [CREATED])
    places = {game: place_of(game) for game in GAMES}
    name = urls[1].partition("@/")[2].partition("?")[0]
    with postgres.connect() as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.execute(terminate, [name])

    def is_played(game: str) -> bool:
        try:
            return len(store.read(game)) + play(store, game, [PLACED], 3) > 0
        except StoreUnavailable:
            return False

    assert [game for game in GAMES[:6] if is_played(game)] == [g for g in GAMES[:6] if not places[g]]
    for call in (store.games, store.feed, store.changed_documents):
        with pytest.raises(StoreUnavailable):
            call()
    late = [append_of(game, 0, CREATED, key="k", at=NOW) for game in ("more0", "more1", "more2", "more3")]
    store.record(late)
    refused = [isinstance(append.refusal, StoreUnavailable) for append in late]
    postgres.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    monkeypatch.setattr(engine, "OUTAGE_TIMEOUT_SECONDS", 60)

    store.record(late)
    assert [append.refusal for append in late] == [None] * 4
    assert refused == [place_of(append.game) == 1 for append in late]
    assert {*refused} == {True, False}
    assert store.versions(GAMES[:6]) == {game: 3 if places[game] else 6 for game in GAMES[:6]}
    everything(store)
