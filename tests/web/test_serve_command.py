"""`noughts serve`: its options and settings, its first line, its end, and who else may use its file."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from noughts import CreateGame, Mark, PlaceToken, Service, open_store
from noughts.web import serve
from noughts.web.serve import BARE, UNACKNOWLEDGED_MS
from noughts.web.settings import GONE, Settings
from support.command import COMMAND, environment
from support.deadlines import DEADLINE_SECONDS
from support.forked import noughts
from support.web.serving import Server

STOP_SECONDS = 10.0
"""Twice what the docs promise."""

OPTIONS = {
    ("--port", "70000"): (2, "70000"),
    ("--port", "-1"): (2, "-1"),
    ("--port", "http"): (2, "http"),
    ("--port", ""): (2, "port"),
    ("--port", "٨٠٨٠"): (2, "port"),
    ("--host", ""): (2, "empty"),
    ("--host", "nonesuch.invalid"): (2, "nonesuch.invalid"),
    ("--host", "192.0.2.1"): (2, "192.0.2.1"),
    ("--host", "a b"): (2, "a b"),
    ("--host", "a" * 5000): (2, "aaa"),
    ("--host", "[::1"): (2, "[::1"),
    ("--host", "a\udcff"): (2, "a"),
    ("--host", "http://127.0.0.1"): (2, "http://127.0.0.1"),
    ("--store", "what:ever"): (2, "store"),
    ("--store", "sqlite:/"): (1, "store"),
    ("--store", "sqlite:/dev/null/games.sqlite"): (1, "store"),
    ("--store", "postgresql://ann:a-password@127.0.0.1:1/x"): (1, "PostgreSQL"),
    ("--bot", "tiger"): (2, "'tiger'"),
    ("--bot", "tiger=nonesuch.json"): (2, "nonesuch.json cannot be read"),
    ("--nonesuch",): (2, "nonesuch"),
    ("extra",): (2, "extra"),
    ("--workers", "4"): (2, GONE["WORKERS"]),
    ("--workers=4",): (2, GONE["WORKERS"]),
    ("NOUGHTS_WORKERS", "4"): (2, f"NOUGHTS_WORKERS is not a setting any more: {GONE['WORKERS']}"),
    ("NOUGHTS_LOG", "loud"): (2, "NOUGHTS_LOG"),  # `test_asgi.py` has more settings
}
"""Each with the exit code, and a word that the sentence has in it. None gets as far as serving."""


@pytest.mark.parametrize("options", OPTIONS, ids=ascii)
def test_bad_options_and_settings_are_refused(options: tuple[str, ...]) -> None:
    """In one sentence, without a password."""
    code, word = OPTIONS[options]
    port = () if "--port" in options else ("--port", "0")
    if options[0].startswith("NOUGHTS_"):
        ran = noughts("serve", *port, env=environment(**{options[0]: options[1]}))
    else:
        ran = noughts("serve", *port, *options)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith("noughts")
    assert word in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
    assert "a-password" not in ran.stderr
    assert len(ran.stderr.splitlines()) <= 2


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ran = noughts("serve", "--port", str(other.getsockname()[1]))
    assert ran.returncode == 2
    assert "in use" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_server_can_be_set_up_by_the_environment(tmp_path: Path) -> None:
    """Options override it."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        free = str(other.getsockname()[1])
    file = tmp_path / "games.db"

    with Server(f"sqlite:{file}", NOUGHTS_PORT="1", NOUGHTS_STORE="memory:") as server:
        assert server.port not in (0, 1)
        with server.client() as client:
            client.create("self")
        assert file.exists()
    with Server(f"sqlite:{file}", "--port", free) as server:
        assert server.port == int(free)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.2", "127.0.0.2"),
        ("localhost", "localhost"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104 - that it can be served is the point
        ("0", "127.0.0.1"),
        ("::1", "[::1]"),
        ("::", "[::1]"),
    ],
)
def test_the_first_line_has_an_address_that_can_be_opened(host: str, address: str) -> None:
    """If others can reach it, a second line says what belongs before it."""
    if ":" in host and not _has_ipv6():
        return  # this machine has none, and so has no server on it
    with Server("memory:", "--host", host) as server, server.client() as client:
        assert server.url == f"http://{address}:{server.port}"
        assert client.get("/health").status == 200
        assert server.log().count(BARE.encode()) == (host in ("0", "0.0.0.0", "::"))  # noqa: S104 - as above
    assert "proxy" in BARE
    assert "proxy" in noughts("serve", "--help").stdout


def test_a_reader_who_vanishes_is_given_up_by_the_system() -> None:
    """The pings that nobody acknowledges would fit into its buffers for a quarter of an hour."""
    with serve._bind("127.0.0.1", 0) as listener:  # noqa: SLF001 - no other process can ask a socket
        listener.listen()
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                assert (
                    accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == UNACKNOWLEDGED_MS
                )


# How it ends.


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 0)])
def test_a_server_ends_in_order_on_each_signal(tmp_path: Path, how: signal.Signals, code: int) -> None:
    """With streams, an idle connection, and half a request that never becomes a whole one."""
    with Server(f"sqlite:{tmp_path / 'games.db'}") as server, server.client() as client:
        game = client.create("self")["id"]
        with (
            client.follow(game) as stream,
            socket.create_connection((server.host, server.port)) as half,
        ):
            half.sendall(b"POST /api/v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            stream.wait(lambda now: now.rooms)

            assert server.end(how, STOP_SECONDS) == code

            stream.wait_over()
            assert stream.was_ended
    assert b"Traceback" not in server.errors
    assert b'"level": "error"' not in server.errors
    assert b'"stopped"' in server.errors
    assert [one.name for one in tmp_path.iterdir() if "wal" in one.name] == []  # it was closed


def test_a_signal_ends_a_start_that_takes_long() -> None:
    """Here the database accepts a connection, and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as database:
        port = database.getsockname()[1]
        command = [*COMMAND, "serve", "--port", "0", "--store", f"postgresql://127.0.0.1:{port}/x"]
        with subprocess.Popen(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            connection, _ = database.accept()
            with connection:
                process.send_signal(signal.SIGTERM)
                output, errors = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, output, errors) == (0, b"", b"")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Yield a socket for a server in this process, whose handlers of signals are put back."""
    before = {how: signal.getsignal(how) for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with serve._bind("127.0.0.1", 0) as found:  # noqa: SLF001 - no process is started here
        yield found
    for how, handler in before.items():
        signal.signal(how, handler)


def test_nohup_keeps_a_server(listener: socket.socket) -> None:  # noqa: ARG001 - puts the handlers back
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    serve.Server(Settings(), {}, lambda: None).catch_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("when", ["before", "meanwhile", "as the loop is closed"])
def test_a_signal_counts_while_the_store_is_opened(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    started: list[int] = []
    close = asyncio.Runner.close

    async def open_forever(_: object) -> None:
        if when != "before":
            signal.raise_signal(signal.SIGTERM)
        await asyncio.Event().wait()

    def close_and_signal(runner: asyncio.Runner) -> None:
        close(runner)
        signal.raise_signal(signal.SIGTERM)

    if "loop" in when:
        monkeypatch.setattr(asyncio.Runner, "close", close_and_signal)
    monkeypatch.setattr(serve.Server, "open", open_forever)
    server = serve.Server(Settings(), {}, lambda: started.append(1))
    server.signals = int(when == "before")
    server.catch_signals()
    server.run(listener)
    assert server.signals == 1 + ("loop" in when)
    assert not started


def test_a_second_interrupt_ends_a_server_at_once(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while it closes its store, which may take long."""

    async def close_forever(_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr(serve.Server, "close", close_forever)
    server = serve.Server(Settings(), {}, lambda: signal.raise_signal(signal.SIGINT))
    server.catch_signals()
    server.run(listener)
    assert server.is_interrupted
    assert server.signals == 2


# Who else may use its file.


def test_a_server_keeps_its_file_to_itself(tmp_path: Path) -> None:
    """Nobody else writes to it; whoever only reads may."""
    url, other = f"sqlite:{tmp_path / 'games.db'}", f"sqlite:{tmp_path / 'other.db'}"
    for place in (url, other):
        with open_store(place) as store:
            Service(store).start("local", [CreateGame(), PlaceToken(Mark.X, 4)])
    exported = tmp_path / "exported.jsonl"
    exported.write_text(noughts("store", "export", "--store", other).stdout)
    refused: dict[tuple[str, ...], str] = {
        ("serve", "--port", "0"): "",
        ("play",): "5\n",
        ("resume",): "1\n",
        ("resume", "local"): "1\n",
        ("games", "--delete", "local"): "y\n",
        ("store", "import", str(exported)): "",
    }
    allowed = (
        ("games",),
        ("show", "local"),
        ("store", "verify"),
        ("store", "export"),
        ("store", "backup", str(tmp_path / "copy.db")),
    )

    with Server(url) as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        for command, typed in refused.items():
            ran = noughts(*command, "--store", url, typed=typed)
            assert (ran.returncode, "Traceback" in ran.stderr) == (1, False), (command, ran)
            assert str(tmp_path / "games.db") in " ".join(ran.stderr.split()), (command, ran)
        for command in allowed:
            ran = noughts(*command, "--store", url)
            assert (ran.returncode, ran.stderr) == (0, ""), command
        assert client.move(seat["id"], 4, 5).status == 200
        server.stop_cleanly()

    with open_store(f"sqlite:{tmp_path / 'copy.db'}") as copy:
        assert {game.id for game in copy.games()} == {"local", seat["id"]}
    for command, typed in refused.items():  # now that it has ended
        if command[0] in ("play", "games"):
            assert noughts(*command, "--store", url, typed=typed).returncode == 0, command


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False
