"""`noughts serve`: a server that answers until it is told to stop, and then stops in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from noughts.core.errors import BadSetting, StoreLost, StoreUnavailable, quoted
from noughts.store.urls import open_store
from noughts.web import logs
from noughts.web.connection import Connection, listening
from noughts.web.roster import Roster, read_policies, split_offered
from noughts.web.settings import from_environment, variable

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection as Pipe
    from typing import TextIO

    from noughts.players.policies import Policy
    from noughts.web.app import Application

START = 30
"""How long a worker may take to start, in seconds."""

GRACE = 10
"""How long requests that are being answered may still take, in seconds."""

DOORS = 16
"""How often the loop looks at the same door in each turn: libuv lets in one connection each time.

When many come at once, as they do when games begin, they would wait for hundreds of turns. Of several
workers each looks once, so that all get something to do.
"""


class Server(uvicorn.Server):
    """A server that says where it answers as soon as it does."""

    def __init__(self, config: uvicorn.Config, address: str, out: TextIO) -> None:
        super().__init__(config)
        self._address = address
        self._out = out

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            tell(self._out, self._address)


class Workers(Multiprocess):
    """Several servers at one door, each replaced if it dies."""

    def __init__(self, config: uvicorn.Config, door: socket.socket, address: str, out: TextIO) -> None:
        was = signal.getsignal(signal.SIGHUP)
        super().__init__(config, [door])
        if was is signal.SIG_IGN:  # nohup wants no end
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._address = address
        self._out = out
        self.is_interrupted = False

    def handle_int(self) -> None:
        """End, and remember that somebody was impatient."""
        self.is_interrupted = True
        super().handle_int()

    @property
    def has_failed(self) -> bool:
        """Whether it has ended because one of them could not start."""
        return any(process.exitcode == STARTUP_FAILURE for process in self.processes)

    def handle_hup(self) -> None:
        """End: the terminal is gone."""
        self.handle_term()

    def init_processes(self) -> None:
        """Start them, and say so when all answer."""
        super().init_processes()
        if all(process.wait_until_ready(START, self.should_exit) for process in self.processes):
            tell(self._out, self._address)


class Making:
    """Makes the application of a process, whose bots were read once for all of them.

    It is sent to each worker, also to one that comes for another that died: whatever has become of the
    files meanwhile, all of them play the same.
    """

    def __init__(self, bots: Mapping[str, Policy], losses: Pipe) -> None:
        """Take the bots, and where to say why the store was lost."""
        self._bots = bots
        self._losses = losses

    def __call__(self) -> Application:
        """Return the application, with the settings in the environment."""
        from noughts.web.app import make  # noqa: PLC0415 - who only starts workers needs none

        application = make()
        application.house.roster = Roster(self._bots)
        application.house.may_create_store = False  # one that has vanished meanwhile is not replaced
        application.house.end = self._end
        return application

    def _end(self, lost: StoreLost) -> None:
        """End the whole server, which leaves with this error."""
        self._losses.send(str(lost))
        parent = multiprocessing.parent_process()
        if parent is None:
            signal.raise_signal(signal.SIGTERM)
        elif parent.pid and parent.is_alive():
            os.kill(parent.pid, signal.SIGTERM)


def serve(host: str, port: int, store: str, bots: str | Sequence[str], workers: int, out: TextIO) -> None:
    """Serve the games of a store until a signal comes.

    Bots are NAME=FILE each; or one text, with commas between.
    """
    settings = from_environment(os.environ, store=store)
    if workers > 1 and store == "memory:":
        raise BadSetting("several workers share their games through a store: memory: is each one's own")
    offered = bots or settings.bots
    policies = read_policies(split_offered(offered) if isinstance(offered, str) else offered)
    losses, reporting = multiprocessing.Pipe(duplex=False)
    making = Making(policies, reporting)
    logs.set_up(settings)
    # So that what is wrong with it is said here, in one sentence.
    open_store(store, checkpoint_file=settings.checkpoint_file).close()
    os.environ[variable("store")] = store
    os.environ[variable("bots")] = ""  # nobody reads the files again
    if workers > 1:
        os.environ["NOUGHTS_SHARED"] = "1"
    door = _door(host, port)
    address = _address(host, door)
    config = uvicorn.Config(
        making,
        factory=True,
        workers=workers,
        http=Connection,
        ws="none",
        loop=_loop(),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,  # whom to believe is known in asking.py
        backlog=4096,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE,
    )
    if workers > 1:
        servers = Workers(config, door, address, out)
        servers.run()
        if servers.is_interrupted:
            raise KeyboardInterrupt
        _check_end(losses, is_started=not servers.has_failed)
        return
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # the terminal is gone; nohup wants no end
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    server = Server(config, address, out)
    with suppress(SystemExit):  # the signal that it was ended by, or a start that failed
        server.run(sockets=[door, *(door.dup() for _ in range(1, DOORS))])
    _check_end(losses, is_started=server.started)


def _check_end(losses: Pipe, *, is_started: bool) -> None:
    """Refuse if the server did not end because it was asked to."""
    if losses.poll():
        raise StoreLost(losses.recv())
    if not is_started:
        raise StoreUnavailable("the server could not start: its log says why")


def tell(out: TextIO, address: str) -> None:
    """Say where the server answers."""
    print(f"Serving on {address}", file=out, flush=True)


def _door(host: str, port: int) -> socket.socket:
    try:
        return listening(host, port)
    except (OSError, OverflowError, TypeError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise BadSetting(f"{quoted(host)} port {port} cannot be served: {words}") from error


def _address(host: str, door: socket.socket) -> str:
    port = door.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _loop() -> str:
    try:
        import uvloop  # noqa: F401, PLC0415 - it is not on every system
    except ImportError:
        return "asyncio"
    return "uvloop"
