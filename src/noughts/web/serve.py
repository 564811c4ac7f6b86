"""`noughts serve`: the application on uvicorn, with our socket, signals and exit codes."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import NoReturn, TextIO

import uvicorn

from noughts.bots.policy import Policy
from noughts.core.errors import NoughtsError, quoted
from noughts.web.app import Application
from noughts.web.bots import read_policies, split_offered
from noughts.web.logging import log, log_to_stderr
from noughts.web.problems import InvalidSetting, ServerFailed
from noughts.web.settings import Settings, from_environment

STOP_SECONDS = 1
"""How long requests may take at the end; closing takes two more seconds at most."""

BACKLOG = 4096
IDLE_SECONDS = 75
"""How long a connection may be idle: longer than a proxy keeps it, so that it never closes one in use."""

UNACKNOWLEDGED_MS = 25_000
"""How long what was sent may stay unacknowledged before the connection is given up."""

BARE = (
    "noughts: this port is open to others: put a proxy before it, for TLS and against floods of "
    "connections (docs/serving.md)"
)


def serve(
    host: str, port: int, store: str, bots: str | Sequence[str], out: TextIO, err: TextIO | None
) -> None:
    """Serve the games of a store until a signal comes.

    Bots are NAME=FILE each; or one text, separated by commas.
    """
    settings = from_environment(os.environ, store=store)
    offered = bots or settings.bots
    policies = read_policies(split_offered(offered) if isinstance(offered, str) else offered)
    log_to_stderr(settings.log, settings.log_format)
    with _bind(host, port) as listener:

        def announce() -> None:
            gc.collect()
            gc.freeze()  # what lives as long as the process
            gc.set_threshold(50_000, 50, 100)
            try:
                listener.listen(BACKLOG)  # now, and not when uvicorn does: who reads the line may connect
            except OSError as error:
                _refuse(host, port, error)
            bound = ip_address(listener.getsockname()[0])
            print(f"Serving on {_url(host, listener)}", file=out, flush=True)
            if err and not bound.is_loopback:
                print(BARE, file=err, flush=True)

        server = Server(settings, policies, announce)
        server.catch_signals()
        server.run(listener)
    if server.error:
        raise server.error
    if server.is_interrupted:
        raise KeyboardInterrupt


class Server(Application):
    """The application on uvicorn, until a signal or an error ends it."""

    def __init__(
        self, settings: Settings, policies: Mapping[str, Policy], on_start: Callable[[], None]
    ) -> None:
        super().__init__(settings, policies, self._fail)
        self.error: NoughtsError | None = None
        self.is_interrupted = False
        self.signals = 0
        """How many have come, errors included."""
        self._on_start = on_start
        self._wake: Callable[[], object] = lambda: None
        self._server = uvicorn.Server(
            uvicorn.Config(
                self,
                lifespan="on",
                interface="asgi3",
                ws="none",
                proxy_headers=False,  # the application reads them itself, from whom it trusts
                server_header=False,
                access_log=False,
                log_config=None,
                log_level="critical",
                backlog=BACKLOG,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )

    def catch_signals(self) -> None:
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup wants it to go on
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, number: int, _frame: object) -> None:
        self.signals += 1
        self.is_interrupted = self.is_interrupted or number == signal.SIGINT
        self._wake()

    def _fail(self, error: NoughtsError) -> None:
        self.error = self.error or error
        self.signals += 1
        self._wake()

    def run(self, listener: socket.socket) -> None:
        with asyncio.Runner(loop_factory=self._server.config.get_loop_factory()) as runner:
            try:
                runner.run(self._server.serve(sockets=[listener]))
            except SystemExit as error:  # it could not start
                if not self.signals:
                    raise self.error or ServerFailed("the server could not start") from error
            finally:
                self._wake = lambda: None

    async def start(self) -> None:
        """Start; a signal interrupts even what takes long."""
        self.catch_signals()  # uvicorn has put its own handlers in their place
        signalled = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(signalled.set)
        if self.signals:
            signalled.set()
        opening, waiting = asyncio.ensure_future(self.open()), asyncio.ensure_future(signalled.wait())
        await asyncio.wait((opening, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        opening.cancel()  # if it goes on: a database may be away
        try:
            await opening
            self._on_start()
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, NoughtsError):
                self.error = self.error or error
            elif isinstance(error, Exception):
                log.exception("failure")
            await self.close()
            raise ServerFailed(str(error)) from error
        self._ending = asyncio.ensure_future(self._end_with(signalled))

    async def _end_with(self, signalled: asyncio.Event) -> None:
        """End the streams and then the server, once signalled; return if it must end at once."""
        await signalled.wait()
        self.end_streams()
        self._server.should_exit = True
        while not (self.is_interrupted and self.signals > 1):  # a second Ctrl-C
            signalled.clear()
            await signalled.wait()
        self._server.force_exit = True

    async def stop(self) -> None:
        closing = asyncio.ensure_future(self.close())
        await asyncio.wait((closing, self._ending), return_when=asyncio.FIRST_COMPLETED)


def _url(host: str, listener: socket.socket) -> str:
    """Return an address that can be opened on this machine."""
    bound, port = listener.getsockname()[:2]
    if ip_address(bound).is_unspecified:
        host = "::1" if ":" in bound else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _bind(host: str, port: int) -> socket.socket:
    """Return a socket that is bound, and gives up connections whose other end has vanished."""
    if not host:
        _refuse(host, port, "the host is empty")
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for name, value in (("TCP_NODELAY", 1), ("TCP_USER_TIMEOUT", UNACKNOWLEDGED_MS)):
            with suppress(AttributeError):  # not on every system
                found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        found.bind((host, port))
    except (OSError, OverflowError, TypeError, ValueError) as error:
        found.close()
        _refuse(host, port, error)
    return found


def _refuse(host: str, port: int, why: Exception | str) -> NoReturn:
    words = getattr(why, "strerror", None) or why
    raise InvalidSetting(f"{quoted(host)} port {port} cannot be served: {words}")
