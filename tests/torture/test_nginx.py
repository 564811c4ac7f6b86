"""The project's file for nginx, in a real nginx before two servers, on one PostgreSQL behind a pgbouncer.

Only `make torture` runs this (`conftest.py`): it installs both.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPSConnection
from pathlib import Path
from random import Random
from typing import Any

import pytest

from support.at_once import in_threads
from support.deadlines import DEADLINE_SECONDS
from support.figures import Property, tally
from support.pgbouncer import pooled
from support.postgres_server import Server as Postgres
from support.web.hostile_requests import exchange, statuses
from support.web.inspection import figure, quiet_port
from support.web.matches import WON_BY_X, check_events, two_players
from support.web.persistent_players import Players
from support.web.serving import Answer, Client, Server, wait_until
from support.web.serving_docs import EXAMPLES

pytestmark = pytest.mark.torture

NAME = "noughts.example"
TABLES = 4
RESTARTS = 20
SLOW_HEADS = 150
MOST_STREAMS = 300
"""Of one address, in the file."""
FLOOD = 3_000

FIGURE = (
    "{restarts} restarts of servers behind nginx in play: {commands:,} commands, {lost} lost; "
    "{lines:,} streams resumed, {missed} events missed, {repeated} repeated; {faults} answers with 5xx"
)

MAIN = """
daemon off; worker_processes 2; worker_rlimit_nofile 8192; pid {folder}/pid; error_log {folder}/errors;
{user}
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    include {folder}/noughts.conf;
}}
"""


class Nginx(Server):
    """The file, changed in nothing but paths and ports, and without the # before its second server."""

    def __init__(self, folder: Path, servers: list[Server]) -> None:
        self.folder, self.servers, self.check = folder, servers, None
        self.store = servers[0].store
        self.host, self.port, self.plain_port = "127.0.0.1", quiet_port(), quiet_port()
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        command = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={NAME}"
        names = f"subjectAltName=DNS:{NAME},IP:127.0.0.1"
        subprocess.run(
            [*command.split(), "-addext", names, "-keyout", key, "-out", certificate],
            check=True,
            capture_output=True,
        )
        self.context = ssl.create_default_context(cafile=certificate)
        text = (EXAMPLES / "nginx.conf").read_text()
        for old, new in {
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
            "listen [::]:80;": f"listen 127.0.0.2:{self.plain_port};",
            "listen 443 ": f"listen 127.0.0.1:{self.port} ",
            "listen [::]:443 ": f"listen 127.0.0.2:{self.port} ",
            "/etc/ssl/noughts/fullchain.pem": str(certificate),
            "/etc/ssl/noughts/privkey.pem": str(key),
            "# server 127.0.0.1:8001 ": f"server 127.0.0.1:{servers[1].port} ",
            "server 127.0.0.1:8000 ": f"server 127.0.0.1:{servers[0].port} ",
        }.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / "noughts.conf").write_text(text)
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(MAIN.format(folder=folder, user=user))
        self._process = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"])  # noqa: S607 - the system's
        wait_until(self._answers)

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(DEADLINE_SECONDS)

    def connection(self, source: tuple[str, int] | None = None) -> HTTPSConnection:
        return HTTPSConnection(
            self.host, self.port, timeout=DEADLINE_SECONDS, source_address=source, context=self.context
        )

    def socket(self, source: str = "127.0.0.1") -> socket.socket:
        return self.context.wrap_socket(super().socket(source), server_hostname=NAME)

    def _answers(self) -> bool:
        assert self._process.poll() is None, (self.folder / "errors").read_text()
        try:
            with self.client() as client:
                return client.get("/ready").status == 200
        except OSError:
            return False


def server(store: str, port: int, **settings: str) -> Server:
    url = f"https://{NAME}"
    return Server(store, "--port", str(port), NOUGHTS_PROXY="127.0.0.1", NOUGHTS_ORIGIN=url, **settings)


@pytest.fixture
def start(postgres: Postgres, tmp_path: Path) -> Iterator[Callable[..., Nginx]]:
    """Return how to start two servers with some settings, and nginx before them."""
    with ExitStack() as stack:
        store = stack.enter_context(pooled(postgres))

        def start(**settings: str) -> Nginx:
            servers = [stack.enter_context(server(store, quiet_port(), **settings)) for _ in range(2)]
            nginx = Nginx(tmp_path, servers)
            stack.enter_context(nginx)
            return nginx

        yield start


def test_a_game_is_played_through_nginx(start: Callable[..., Nginx]) -> None:
    """Streams come as they are sent; the metrics are hidden, and plain HTTP is sent on to TLS."""
    nginx = start()
    with two_players(nginx) as match, match.X.follow() as ann, match.watcher.follow(match.game) as eve:
        for cell in WON_BY_X:
            version = match.play(cell).json["version"]
            for stream in (ann, eve):
                stream.wait_version(version)
        for stream in (ann, eve):
            check_events(stream, match.now["events"])
        created = match.watcher.post("/games", {"opponent": "self"}, origin=f"https://{NAME}")
        assert created.status == 201
        assert "Secure" in created.headers["set-cookie"]
        refused = match.watcher.post("/games", {"opponent": "self"}, origin="https://evil.example")
        assert refused.status == 403
        assert match.watcher.get("//metrics").status == 404
        assert "max-age" in match.watcher.get("//").headers["strict-transport-security"]
    with socket.create_connection((nginx.host, nginx.plain_port), DEADLINE_SECONDS) as plain:
        plain.sendall(b"GET /game/x HTTP/1.1\r\nHost: x\r\n\r\n")
        assert plain.recv(65536).startswith(b"HTTP/1.1 301 ")


def test_a_rolling_restart_loses_no_move_and_no_event(
    start: Callable[..., Nginx], monkeypatch: pytest.MonkeyPatch, record_property: Property
) -> None:
    """One server after the other, again and again, while people play; nobody gets a 5xx."""
    nginx, chance, connect = start(), Random(5), Nginx.connection
    players = Players()

    def spread(source: tuple[str, int] | None = None) -> HTTPSConnection:
        return connect(nginx, source or (f"127.0.0.{chance.randrange(100, 250)}", 0))

    def check(_method: str, _path: str, answer: Answer) -> None:
        players.count(faults=answer.status >= 500)

    monkeypatch.setattr(nginx, "connection", spread)
    monkeypatch.setattr(nginx, "check", check)
    with tally(record_property, FIGURE) as numbers, ExitStack() as stack, players:
        for number in range(10, 10 + 2 * TABLES, 2):
            # Each from its own address: they play faster than the file allows anybody to.
            players.seat_friends(nginx, f"127.0.0.{number}", f"127.0.0.{number + 1}")
        players.start()
        for number in range(RESTARTS):
            players.wait_for(chance.randrange(1, 30))
            old = nginx.servers[number % 2]
            old.stop_cleanly()
            nginx.servers[number % 2] = stack.enter_context(server(nginx.store, old.port))
        players.finish()
        players.compare(nginx.store)
        numbers.update(players.numbers, restarts=RESTARTS)
        assert numbers["lost"] == numbers["missed"] == numbers["repeated"] == numbers["faults"] == 0
        assert players.numbers["again"] == 0, "a command was not answered"


@pytest.mark.waits
def test_slow_heads_are_closed_and_disturb_nobody(start: Callable[..., Nginx]) -> None:
    """Connections without a handshake, too."""
    nginx = start()
    with ExitStack() as stack, two_players(nginx) as match, match.O.follow() as bob:
        slow = [stack.enter_context(nginx.socket()) for _ in range(SLOW_HEADS)]
        place = nginx.host, nginx.port
        slow += [stack.enter_context(socket.create_connection(place, DEADLINE_SECONDS)) for _ in slow]
        for connection in slow[:SLOW_HEADS]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
        match.play(*WON_BY_X)
        check_events(bob, match.now["events"])
        for connection in slow:
            with suppress(ConnectionError):  # `reset_timedout_connection`
                assert connection.recv(65536) == b""
        assert not bob.is_over


def test_floods_are_refused_and_disturb_nobody_else(start: Callable[..., Nginx]) -> None:
    """Of streams, and of requests: each address has a share."""
    nginx = start()
    with nginx.client(source="127.0.0.9") as other, ExitStack() as stack:
        game = other.create("self")["id"]
        follow = f"GET /api/v1/games/{game}/events HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        found = Counter[int]()
        for _ in range(MOST_STREAMS + 20):
            connection = stack.enter_context(nginx.socket())
            connection.sendall(follow)
            found.update(statuses(connection.recv(65536)))
        assert found == {200: MOST_STREAMS - found[429] + 20, 429: found[429]}
        assert found[429] >= 20
        with nginx.client(source="127.0.0.8") as free, free.follow(game) as stream:
            stream.wait(lambda now: now.rooms)

        def flood() -> Counter[int]:
            statuses = Counter[int]()
            with nginx.socket("127.0.0.7") as connection:
                connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n" * (FLOOD // 5))
                connection.settimeout(DEADLINE_SECONDS)
                text = b""
                while statuses.total() < FLOOD // 5:
                    text += connection.recv(65536)
                    *heads, text = re.split(rb"(?<=HTTP/1\.1 \d{3} )", text)
                    statuses.update(int(head[-4:]) for head in heads)
            return statuses

        floods: list[Any] = in_threads(*[flood] * 5, lambda: Counter({other.get("/ready").status: 1}))
        assert floods.pop() == {200: 1}
        total = sum(floods, Counter[int]())
        assert total[429] > 0
        assert total[200] > 0
        assert total.total() == total[200] + total[429] == FLOOD


HUGE = {
    "a header of 70 kB": (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 400),
    "10,000 headers": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 10_000 + b"\r\n", 400),
    "an address of 70 kB": (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    "a body of 70 kB": (
        b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n" + b"a" * 70_000,
        413,
    ),
    "no host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    "a length and chunks": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    ),
}


def test_huge_requests_do_not_reach_a_server(start: Callable[..., Nginx]) -> None:
    nginx = start()

    def answered() -> int:
        count = 0
        for one in nginx.servers:
            with one.client() as direct:
                count += figure(direct, "request_seconds_count")
        return count

    before = answered()
    for what, (request, status) in HUGE.items():
        assert statuses(exchange(nginx, request, bool)) in ([status], []), what
    assert answered() == before + 2  # the metrics themselves


def test_nobody_gets_around_a_limit_with_the_address_of_another(start: Callable[..., Nginx]) -> None:
    nginx = start(NOUGHTS_CREATES_PER_MINUTE="5")

    def create(client: Client, number: int) -> int:
        spoofed = f"198.51.100.{number}"
        headers = {
            "x_forwarded_for": f"{spoofed}, 127.0.0.1",
            "x_real_ip": spoofed,
            "forwarded": f"for={spoofed}",
        }
        return client.post("/games", {"opponent": "self"}, **headers).status

    for source in ("127.0.0.1", "127.0.0.5", "127.0.0.6"):
        with nginx.client(source=source) as client:
            assert [create(client, number) for number in range(8)] == [201] * 5 + [429] * 3, source
