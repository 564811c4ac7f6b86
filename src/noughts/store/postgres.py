"""The store on a PostgreSQL server, for any number of processes on any number of machines.

A change compares and sets its game's row, so it may be sent again. If a connection breaks during a
commit, the outcome is unknown: the same change on a new connection is committed then, or its own hash is
found in the row, or another change is. What was found may not have reached the standby yet. So before
it is acknowledged, an UPDATE of that row that changes nothing is committed: this waits for the standby,
unlike a SELECT, a NOTIFY or an UPDATE of no row.

A backend that waits for its standby holds its locks, also when its client has gone. So a connection that
hangs is given up only if its server doesn't answer a second one either.
"""

# ruff: noqa: S608 - all SQL is our own text

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from secrets import token_hex
from threading import BoundedSemaphore, Event, Thread
from typing import TypeAlias

import psycopg

from noughts.store import postgres_schema as schema
from noughts.store.base import (
    MAX_TRIES,
    News,
    OnNews,
    PresenceTable,
    StoredGame,
    Streams,
    news_of,
    refusal,
)
from noughts.store.errors import NoSuchGame, StaleVersion, StoreError, StoreUnavailable
from noughts.store.news import decode_news, encode_news
from noughts.store.postgres_session import Session, answers, translated, translation
from noughts.store.rows import LISTED, ROW, Change, Row
from noughts.store.sql import SQLStore
from noughts.system import Worker, start_thread

Execute: TypeAlias = Callable[..., list[Row]]
"""Executes a statement with its values."""

DEADLINE_SECONDS = 5.0
"""How long anybody waits for a commit; the commit itself goes on."""
COMMIT_OUTAGE_SECONDS, OUTAGE_SECONDS = 10.0, 5.0
"""How long to try again while the server is away: to commit, and for everything else."""
GUARD_SECONDS = 0.5
"""How often to look for connections that hang."""
MAX_READERS = 8
CROWDED_NEWS, GATHER_SECONDS = 1, 0.01
"""After more news than this, the next waits so long for company: every process takes it one by one."""
MAX_NEWS = 10_000
"""Beyond that, other processes find what is new when they look."""

# With indexes alone, rows are locked in the order of ids, and commits seldom deadlock.
_IN_ORDER = """SET plan_cache_mode TO force_generic_plan; SET enable_seqscan TO off;
    SET enable_hashjoin TO off; SET enable_mergejoin TO off; SET enable_bitmapscan TO off"""
# For what may be lost: it waits for no disk and no standby.
_FAST = "SET synchronous_commit TO off"


def _arrays(types: str) -> str:
    return ", ".join(f"%s::{one}[]" for one in types.split())


_LISTED_TYPES = "bigint bigint text text text text text"
_INSERT = f"""INSERT INTO games ({ROW}, {LISTED})
    SELECT * FROM unnest({_arrays(f"text bigint bigint text text bytea {_LISTED_TYPES}")})
    ON CONFLICT (id) DO NOTHING RETURNING id"""
_UPDATE = f"""UPDATE games AS old SET
    {", ".join(f"{name} = new.{name}" for name in f"revision, hour, hash, {LISTED}".split(", "))},
    record = CASE WHEN new.is_deleted THEN '' ELSE old.record || new.piece END,
    room = coalesce(new.room, old.room)
    FROM unnest({_arrays(f"text bytea boolean bigint bigint text text bytea {_LISTED_TYPES}")})
    AS new (id, was, is_deleted, revision, hour, piece, room, hash, {LISTED})
    WHERE old.id = new.id AND old.hash = new.was RETURNING old.id"""
_BOTH = f"""WITH created AS ({_INSERT}), changed AS ({_UPDATE})
    SELECT id FROM created UNION ALL SELECT id FROM changed"""
_FIND = f"SELECT {ROW} FROM games WHERE id = ANY(%s::text[])"
_HASHES = "SELECT id, hash FROM games WHERE id = ANY(%s::text[])"
_TOUCH = "UPDATE games SET hash = hash WHERE id = ANY(%s::text[]) RETURNING id"
# Without waiting for a standby: no game depends on one hour.
_COUNT_HOUR = """UPDATE counter SET hours = %s, hash = %s
    FROM (SELECT set_config('synchronous_commit', 'local', true)) AS now WHERE hours = %s"""
_CHANNEL = """SELECT 'noughts_' || md5(relnamespace::regnamespace::text)
    FROM pg_class WHERE oid = 'noughts'::regclass"""
_NOTIFY = "SELECT count(pg_notify(%s, payload)) FROM unnest(%s::text[]) AS payload"


class PostgresStore(SQLStore):
    """A store in the database that `url` names; its tables are created if they are missing."""

    is_shared = True

    def __init__(self, url: str, *, create: bool = True) -> None:
        super().__init__()
        self.writer.limit_seconds = DEADLINE_SECONDS
        self._url = url
        self._process = token_hex(8)
        self._closing = Event()
        self._sessions: list[Session] = []
        self._threads: list[Thread] = []
        self._commits = self._session(COMMIT_OUTAGE_SECONDS, _IN_ORDER)
        self._notices = self._session(settings=_FAST)
        self._announcer = Worker("noughts-news")
        self._news: deque[News] = deque(maxlen=MAX_NEWS)
        self._followers: list[OnNews] = []
        first = self._session(0)
        self._readers = [first]
        self._free_readers = BoundedSemaphore(MAX_READERS)
        try:
            with translated(url):
                first.run(lambda: schema.prepare(first.connection, create=create))
            ((self._channel,),) = self._execute(first, _CHANNEL)
        except BaseException:
            self._is_closed = True
            first.close()
            raise
        first.limit_seconds = OUTAGE_SECONDS
        self._start("noughts-guard", self._guard)

    def _commit(self, batch: Sequence[Change]) -> None:
        try:
            self._commits.run(partial(_write, self._commits, batch))
        except (psycopg.Error, UnicodeError) as error:  # a change's, not the connection's
            if len(batch) == 1:
                batch[0].failure = translation(self._url, error)
                return
            for change in batch:  # a bad one fails alone
                self._commit([change])
        else:
            won = (change for change in batch if not change.failure)
            self._announce(news_of(change) for change in won if change.after is not change.before)

    def confirm(self, game: str) -> StoredGame | None:
        """Return a game as it is durably: a commit that leaves it as it was found waits for that."""
        for _ in range(MAX_TRIES):
            found = self.read(game)
            if found is None:
                return None
            with suppress(StaleVersion, NoSuchGame):  # it went on, or has gone: read it again
                return self.submit(Change(found, found)).result()
        raise StoreUnavailable(f"game {game} changes too fast: try again")

    def _select(self, statement: str, *values: object) -> list[Row]:
        with self._free_readers:
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = self._session()
            try:
                return self._execute(reader, statement.replace("?", "%s"), *values)
            finally:
                self._readers.append(reader)

    def _execute(self, session: Session, statement: str, *values: object) -> list[Row]:
        with translated(self._url):
            return session.run(partial(session.execute, statement, *values))

    def _rows(self, games: Sequence[str]) -> list[Row]:
        return self._select(_FIND, _array(games))

    def _hashes(self, games: Sequence[str]) -> dict[str, bytes]:
        return dict(self._select(_HASHES, _array(games)))

    def _set_counter(self, seen: int, hours: int, new_hash: bytes) -> None:
        self._select(_COUNT_HOUR, hours, new_hash, seen)

    def presence(self, process: str) -> PresenceTable:
        execute = partial(self._execute, self._session(settings=_FAST))
        return PresenceRows(process, execute, self._announce)

    def follow(self, on_news: OnNews) -> None:
        self._followers.append(on_news)
        if len(self._followers) == 1:
            self._start("noughts-listener", self._listen)

    def _announce(self, news: Iterable[News]) -> None:
        """Send news to other processes; what gets lost, they find when they look."""
        self._news.extend(news)
        self._announcer(self._send_news)

    def _send_news(self) -> None:
        """Notify after the commit: within it, a notification locks all others out."""
        news = [self._news.popleft() for _ in range(len(self._news))]
        if news:
            payloads = _array(encode_news(self._process, news))
            with suppress(StoreError):
                self._execute(self._notices, _NOTIFY, self._channel, payloads)
        if len(news) > CROWDED_NEWS:
            self._closing.wait(GATHER_SECONDS)

    def _listen(self) -> None:
        session = self._session()

        def listen() -> None:
            session.execute(f"LISTEN {self._channel}")
            self._pass_on(None)  # something may have come before
            for note in session.connection.notifies():
                if not note.payload.startswith(f"{self._process} "):
                    self._pass_on(_news_in(note.payload))

        while not self._closing.is_set():
            with suppress(psycopg.Error, StoreError):
                session.run(listen)
            self._closing.wait(0.2)

    def _pass_on(self, news: Sequence[News] | None) -> None:
        for on_news in tuple(self._followers):
            on_news(news)

    def _guard(self) -> None:
        """Give up the connections to a server that doesn't answer any more."""
        while not self._closing.wait(GUARD_SECONDS):
            sessions = tuple(self._sessions)
            for server in {session.server for session in sessions if session.server and session.hangs}:
                is_alive = answers(server, self._url)
                for session in sessions:
                    if session.server == server:
                        (session.wait_on if is_alive else session.cut)()

    def _session(self, limit_seconds: float | None = None, settings: str = "") -> Session:
        limit_seconds = OUTAGE_SECONDS if limit_seconds is None else limit_seconds
        session = Session(self._url, self._closing, limit_seconds, settings)
        self._sessions.append(session)
        return session

    def _start(self, name: str, work: Callable[[], None]) -> None:
        thread = Thread(target=work, name=name, daemon=True)
        start_thread(thread)
        self._threads.append(thread)

    def _close(self) -> None:
        self._announcer.close(OUTAGE_SECONDS)
        self._closing.set()
        for session in tuple(self._sessions):
            session.close()
        for thread in self._threads:
            thread.join(OUTAGE_SECONDS)


class PresenceRows(PresenceTable):
    """Who is present, in unlogged tables; a process's rows go with its line."""

    def __init__(
        self, process: str, execute: Execute, announce: Callable[[Iterable[News]], None]
    ) -> None:
        self._process = process
        self._execute = execute
        self._announce = announce

    def renew(self, seconds: float) -> bool:
        ((is_new,),) = self._execute(
            "WITH gone AS (DELETE FROM processes WHERE expires < now() AND process <> %s)"
            " INSERT INTO processes VALUES (%s, now() + make_interval(secs => %s))"
            " ON CONFLICT (process) DO UPDATE SET expires = excluded.expires RETURNING xmax = 0",
            *(self._process, self._process, float(seconds)),
        )
        return bool(is_new)

    def write(self, rows: Mapping[str, Streams | None]) -> None:
        present = [(game, *streams) for game, streams in rows.items() if streams is not None]
        if present:
            self._execute(
                f"INSERT INTO presence SELECT process, new.* FROM processes,"
                f" unnest({_arrays('text integer integer integer')}) AS new WHERE process = %s"
                " ON CONFLICT (process, game) DO UPDATE"
                " SET x = excluded.x, o = excluded.o, watching = excluded.watching",
                *(*_columns(present), self._process),
            )
        if gone := [game for game, streams in rows.items() if streams is None]:
            self._execute(
                "DELETE FROM presence WHERE process = %s AND game = ANY(%s::text[])",
                *(self._process, _array(gone)),
            )
        self._announce([News(game, 0, b"") for game in rows])

    def of(self, games: Sequence[str]) -> dict[str, Streams]:
        found = self._execute(
            "SELECT game, sum(x)::int, sum(o)::int, sum(watching)::int FROM presence"
            " JOIN processes USING (process) WHERE game = ANY(%s::text[]) AND process <> %s"
            " AND expires > now() GROUP BY game",
            *(_array(games), self._process),
        )
        return {game: (x, o, watching) for game, x, o, watching in found}

    def lobby(self) -> list[str]:
        found = self._execute(
            "SELECT DISTINCT game FROM presence JOIN processes USING (process)"
            " JOIN games ON id = game WHERE expires > now() AND open IS NOT NULL"
        )
        return [game for (game,) in found]

    def leave(self) -> None:
        found = self._execute(
            "WITH gone AS (DELETE FROM presence WHERE process = %s RETURNING game),"
            " line AS (DELETE FROM processes WHERE process = %s) SELECT game FROM gone",
            *(self._process, self._process),
        )
        self._announce([News(game, 0, b"") for (game,) in found])


def _write(session: Session, batch: Sequence[Change]) -> None:
    """Commit changes with one statement, and note the failure of each that loses."""
    new = [change.after.row for change in batch if not change.before.revision]
    old = [_changed_row(change) for change in batch if change.before.revision]
    statement = _BOTH if new and old else _INSERT if new else _UPDATE
    won = {row[0] for row in session.execute(statement, *_columns(new), *_columns(old))}
    if len(won) == len(batch):
        return
    lost = {change.id: change for change in batch if change.id not in won}
    found = {row[0]: row for row in session.execute(_FIND, _array(lost))}
    recorded = [game for game, row in found.items() if row[5] == lost[game].after.hash]
    if recorded and len(session.execute(_TOUCH, _array(recorded))) < len(recorded):
        raise psycopg.OperationalError("a row has gone")
    for game in lost.keys() - recorded:
        lost[game].failure = refusal(lost[game], found.get(game))


def _news_in(payload: str) -> list[News] | None:
    try:
        return decode_news(payload)[1]
    except ValueError:  # of another program
        return None


def _changed_row(change: Change) -> Row:
    after = change.after
    values = after.is_deleted, after.revision, after.hour, change.piece, change.room, after.hash
    return after.id, change.before.hash, *values, *after.columns


def _columns(rows: Iterable[Row]) -> list[str]:
    """Write the columns of rows as PostgreSQL's array literals: psycopg takes 20 times as long."""
    return [_array(column) for column in zip(*rows, strict=True)]


def _array(values: Iterable[object]) -> str:
    return f"{{{','.join(map(_element, values))}}}"


def _element(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bytes():
            return f'"\\\\x{value.hex()}"'
        case str():
            text = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'
        case _:
            return str(value)
