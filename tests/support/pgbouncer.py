"""A real pgbouncer before a PostgreSQL server: in session mode, as docs/serving.md asks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from support.deadlines import eventually
from support.postgres_server import Server

PORT = 6432
"""Of a socket in a folder."""

SETTINGS = """
[databases]
* = host={server} user=postgres
[pgbouncer]
pool_mode = session
unix_socket_dir = {folder}
listen_port = {port}
auth_type = any
max_client_conn = 200
default_pool_size = 50
"""


@contextmanager
def pooled(server: Server) -> Iterator[str]:
    """Run a pgbouncer; yield the URL of a new database behind it."""
    server.execute("CREATE DATABASE pooled")
    with TemporaryDirectory(prefix="noughts-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "ini").write_text(SETTINGS.format(server=server.folder, folder=folder, port=PORT))
        user = ["--user", "nobody"] if os.geteuid() == 0 else []
        with subprocess.Popen(["pgbouncer", "--quiet", *user, folder / "ini"]) as bouncer:  # noqa: S607 - the system's
            try:
                eventually((folder / f".s.PGSQL.{PORT}").exists)
                yield f"postgresql:///pooled?host={folder}&port={PORT}"
            finally:
                bouncer.terminate()
    server.execute("DROP DATABASE pooled WITH (FORCE)")
