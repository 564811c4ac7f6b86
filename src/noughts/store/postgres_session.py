"""Connections to a PostgreSQL server that goes away, fails over or hangs."""

from __future__ import annotations

import math
import os
import re
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Event, Lock
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from noughts.store.errors import CorruptStore, StoreError, StoreUnavailable, UnknownStore
from noughts.store.rows import Row
from noughts.store.writer import CLOSED

Answer = TypeVar("Answer")
Server: TypeAlias = tuple[str, str, int]
"""Host, address and port of a connection."""

HANG_SECONDS, ANSWER_SECONDS = 3.0, 2.0
"""When to ask whether a server still answers, and how long to wait for that."""

# A standby may be behind: what is right would be refused there.
_DEFAULTS: dict[str, Any] = {"target_session_attrs": "primary"}
# Dead connections are noticed within seconds.
_CONNECTING: dict[str, Any] = {
    "autocommit": True,
    "client_encoding": "UTF8",
    "connect_timeout": 2,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
# What durability and order depend on, whatever the server's defaults are.
_SETTINGS = """SET default_transaction_isolation TO 'read committed';
    SET statement_timeout TO 0; SET lock_timeout TO 0;
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'"""
# Otherwise each broken connection could leave a backend behind that waits for a lock.
_NOTICE_THE_END = "SET client_connection_check_interval TO '5s'"


class Session:
    """One connection, made when it is needed, and again when it is broken; one thread at a time.

    Another thread may look after it, and give the connection up.
    """

    def __init__(self, url: str, is_closing: Event, limit_seconds: float, settings: str) -> None:
        self.limit_seconds = limit_seconds
        """How long to try again while the server is away."""
        self._url = url
        self._parameters = parameters(url)
        self._is_closing = is_closing
        self._settings = settings
        self._connection: psycopg.Connection[Row] | None = None
        self._socket: socket.socket | None = None
        self.server: Server | None = None
        self._busy_since = math.inf
        self._warnings: list[str] = []
        self._lock = Lock()

    @property
    def connection(self) -> psycopg.Connection[Row]:
        """The connection, for work that `run` does."""
        return self._connection or self._connect()

    def run(self, work: Callable[[], Answer]) -> Answer:
        """Do work, which may be done again if the connection breaks; its own errors are psycopg's."""
        with self._lock:
            try:
                return self._run(work)
            finally:
                if self._is_closing.is_set():
                    self._drop()

    def _run(self, work: Callable[[], Answer]) -> Answer:
        end, delay = math.inf, 0.02
        while not self._is_closing.is_set():
            try:
                return work()
            except psycopg.Error as error:
                if is_broken(error):
                    self._drop()
                elif error.sqlstate not in _AGAIN:
                    raise
                end = min(end, time.monotonic() + self.limit_seconds)
                if time.monotonic() + delay > end:
                    raise translation(self._url, error) from error
            except BaseException:
                self._drop()
                raise
            self._is_closing.wait(delay)
            delay = min(2 * delay, 0.5)
        raise StoreUnavailable(CLOSED)

    def execute(self, statement: str, *values: object) -> list[Row]:
        """Execute a statement, which is a transaction of its own, within work; return its rows."""
        connection = self.connection
        self._warnings.clear()
        self._busy_since = time.monotonic()
        try:
            cursor = connection.execute(statement.encode(), values or None, prepare=bool(values))
            rows = cursor.fetchall() if cursor.description else []
        finally:
            self._busy_since = math.inf
        if self._warnings:  # for example, that the commit may not have reached the standby
            raise psycopg.OperationalError(self._warnings[0])
        return rows

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            self._connection = connection = psycopg.connect("", **self._parameters)
            # A descriptor of its own: that of a closed connection may soon be another one's.
            self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        except OSError as error:  # too many files are open
            raise psycopg.OperationalError(str(error)) from error
        self.server = connection.info.host, connection.info.hostaddr, connection.info.port
        connection.add_notice_handler(self._note)
        if self._is_closing.is_set():  # too late for `close` to cut it
            self.cut()
        try:
            self.execute(_SETTINGS)
            with suppress(psycopg.Error):  # new in PostgreSQL 14, and not on every system
                self.execute(_NOTICE_THE_END)
            if self._settings:
                self.execute(self._settings)
        except BaseException:
            self._drop()
            raise
        return connection

    @property
    def hangs(self) -> bool:
        return time.monotonic() - self._busy_since > HANG_SECONDS

    def wait_on(self) -> None:
        """Note that the server has answered a second connection."""
        if self.hangs:
            self._busy_since = time.monotonic()

    def cut(self) -> None:
        """End the connection under the thread that uses it, which gets an error."""
        if found := self._socket:
            with suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._lock.acquire(blocking=False):
            self._drop()
            self._lock.release()
        else:
            self.cut()  # its thread closes it

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.close()
        if self._socket:
            self._socket.close()
            self._socket = None

    def _note(self, notice: errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            self._warnings.append(notice.message_primary or "a warning")


_AGAIN = {"40001", "40P01", "57014"}
"""A serialization failure, a deadlock, and a statement that was cancelled before its commit."""


def is_broken(error: psycopg.Error) -> bool:
    """Return whether an error is the connection's or the server's, not the statement's."""
    if (state := error.sqlstate) is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    only_reads, too_idle = "25006", ("25P03", "25P04")
    return state not in _AGAIN and (state[:2] in {"08", "57"} or state in {only_reads, *too_idle})


def answers(server: Server, url: str) -> bool:
    """Return whether a server answers a second connection."""
    place = dict(zip(("host", "hostaddr", "port"), server, strict=True))
    try:
        with closing(
            psycopg.connect("", **{**parameters(url), **place, "target_session_attrs": "any"})
        ) as second:
            second.pgconn.send_query(b"SELECT 1")  # until now, a proxy may have answered
            second.pgconn.flush()
            answer = select.poll()
            answer.register(second.fileno(), select.POLLIN)
            return bool(answer.poll(ANSWER_SECONDS * 1000))
    except psycopg.Error as error:
        return "FATAL" in str(error)  # a refusal is an answer
    except OSError:  # too many files are open here, which says nothing about the server
        return True


def parameters(url: str) -> dict[str, Any]:
    """Return what a URL says; psycopg's complaint about an invalid one would show its password."""
    try:
        return {**_DEFAULTS, **conninfo_to_dict(url), **_CONNECTING}
    except psycopg.ProgrammingError:
        raise UnknownStore(
            "that is not the URL of a database: use postgresql://USER@HOST/DATABASE"
        ) from None


@contextmanager
def translated(url: str) -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, UnicodeError) as error:
        raise translation(url, error) from error


def translation(url: str, error: Exception) -> StoreError:
    """Return our error for one of psycopg's, without a password."""
    words = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if isinstance(error, (*_DAMAGE, UnicodeDecodeError)):
        return CorruptStore(f"the store on PostgreSQL is damaged: {words}")
    if any(one in words for one in _secrets(url)):
        words = f"the server cannot be reached ({type(error).__name__})"
    return StoreUnavailable(f"the store on PostgreSQL is unavailable: {words}")


_DAMAGE = (
    errors.DataCorrupted,
    errors.IndexCorrupted,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.WrongObjectType,
)


def _secrets(url: str) -> list[str]:
    """Return possible passwords in a URL, and parts of one: an @ in it must be written %40."""
    before_host = url.rpartition("@")[0].partition("://")[2]
    password = before_host.partition(":")[2]
    return [part for part in (*re.split("[@:/?#]", password), unquote(password)) if len(part) > 2]
