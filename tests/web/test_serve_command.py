"""Starting `noughts serve`: invalid options and settings are refused at once, in one sentence."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from noughts.web.serve import Ending, Job, run_process
from noughts.web.settings import Settings
from support.command import environment
from support.forked import noughts
from support.web.serving import Server

STORE = ("--store", "memory:")

# Each with a word that the sentence has to have in it. None of these gets as far as serving.
OPTIONS = {
    "a port that is none": (("--port", "70000"), "70000"),
    "a port below all": (("--port", "-1"), "-1"),
    "a port in letters": (("--port", "http"), "http"),
    "an empty port": (("--port", ""), "port"),
    "digits of elsewhere": (("--port", "٨٠٨٠"), "port"),
    "no workers": (("--workers", "0"), "workers"),
    "workers in letters": (("--workers", "many"), "workers"),
    "a host that is not there": (("--host", "nonesuch.invalid", "--port", "0"), "nonesuch.invalid"),
    "a host that is not ours": (("--host", "192.0.2.1", "--port", "0"), "192.0.2.1"),
    "a host that is no name": (("--host", "a b", "--port", "0"), "a b"),
    "a long host": (("--host", "a" * 5000, "--port", "0"), "aaa"),
    "a host in brackets": (("--host", "[::1", "--port", "0"), "[::1"),
    "a host that is no text": (("--host", "a\udcff", "--port", "0"), "a"),
    "an address for a host": (("--host", "http://127.0.0.1", "--port", "0"), "http://127.0.0.1"),
    "workers without a store": (("--workers", "2", "--port", "0", *STORE), "memory:"),
    "a store that is none": (("--port", "0", "--store", "what:ever"), "store"),
    "a folder for a store": (("--port", "0", "--store", "sqlite:/"), "store"),
    "a store below a file": (("--port", "0", "--store", "sqlite:/dev/null/games.sqlite"), "store"),
    "a database that is not there": (
        ("--port", "0", "--store", "postgresql://127.0.0.1:1/x"),
        "PostgreSQL",
    ),
    "a bot without a file": (("--bot", "tiger"), "'tiger'"),
    "a bot whose file is not there": (("--bot", "tiger=nonesuch.json"), "nonesuch.json cannot be read"),
    "an unknown option": (("--nonesuch",), "nonesuch"),
    "an argument too many": (("extra",), "extra"),
}

STORE_ERRORS = {"a folder for a store", "a store below a file", "a database that is not there"}

SETTINGS = {
    "NOUGHTS_CREATES_PER_MINUTE": ("many", "-1", "1.5", "9999999999", "٣", " 5"),
    "NOUGHTS_JOINS_PER_MINUTE": ("x",),
    "NOUGHTS_WRONG_SECRETS_PER_MINUTE": ("x",),
    "NOUGHTS_STREAMS_PER_ADDRESS": ("x",),
    "NOUGHTS_MOST_STREAMS": ("x",),
    "NOUGHTS_MOST_CONNECTIONS": ("x",),
    "NOUGHTS_CACHED_GAMES": ("x",),
    "NOUGHTS_EXPIRE_DAYS": ("never", "-1"),
    "NOUGHTS_LOG": ("loud", "INFO "),
    "NOUGHTS_LOG_FORMAT": ("xml", "JSON"),
    "NOUGHTS_ORIGIN": ("noughts.example", "https://", "https://a/b", "ftp://a", "https://a@b"),
    "NOUGHTS_BOTS": ("club=q.json",),
    "NOUGHTS_PROXY": ("nonsense", "300.1.1.1"),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_bad_options_are_refused(what: str) -> None:
    options, word = OPTIONS[what]
    ran = noughts("serve", *options)
    assert ran.returncode == (1 if what in STORE_ERRORS else 2)
    assert ran.stdout == ""
    assert ran.stderr.startswith("noughts")
    assert word in ran.stderr
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.splitlines()) <= 2


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in SETTINGS for text in SETTINGS[name]])
def test_a_bad_setting_is_refused(name: str, text: str) -> None:
    ran = noughts("serve", "--port", "0", *STORE, env=environment(**{name: text}))
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert name in ran.stderr
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("when", ["before", "meanwhile", "and again when the loop is closed"])
def test_a_signal_counts_while_the_store_is_opened(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    ending, started = Ending(), []
    close = asyncio.Runner.close

    async def open_slowly(*_: object, **__: object) -> None:
        ending.count += 1
        ending.wake()
        await asyncio.Event().wait()

    def close_and_wake(runner: asyncio.Runner) -> None:
        close(runner)
        ending.wake()

    if "again" in when:
        monkeypatch.setattr(asyncio.Runner, "close", close_and_wake)
    ending.count = when == "before"
    monkeypatch.setattr("noughts.web.serve.open_app", open_slowly)
    with socket.socket() as door:
        run_process(Job(Settings(), {}, door), ending, lambda: started.append(1), times=1)
    assert not started


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ran = noughts("serve", "--port", str(other.getsockname()[1]), *STORE)
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


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0"])  # noqa: S104 - that it can be served is the point
def test_a_server_prints_its_address(host: str) -> None:
    """This server is started as a user would start it, not forked."""
    with Server("memory:", "--host", host, "--workers", "1") as server, server.client() as client:
        assert server.url == f"http://{host}:{server.port}"
        assert client.get("/health").status == 200


def test_a_server_can_listen_on_ipv6() -> None:
    if not _has_ipv6():
        return  # this machine has none, and so has no server on it
    with Server("memory:", "--host", "::1") as server, server.client() as client:
        assert server.url == f"http://[::1]:{server.port}"
        assert client.get("/health").status == 200


def test_the_help_has_every_option_of_serve() -> None:
    ran = noughts("serve", "--help")
    assert ran.returncode == 0
    for option in ("--bot", "--host", "--port", "--store", "--workers"):
        assert option in ran.stdout


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False
