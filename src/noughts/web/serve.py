"""`noughts serve`: sockets, worker processes and signals."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import resource
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection as Pipe, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple, TextIO

import msgspec

from noughts.bots.policy import Policy
from noughts.core.errors import NoughtsError, quoted
from noughts.store.urls import open_store
from noughts.web.app import App, open_app
from noughts.web.bots import read_policies, split_offered
from noughts.web.http import Connection
from noughts.web.logging import log_to_stderr
from noughts.web.problems import InvalidSetting, ServerFailed
from noughts.web.server import Server, listening_socket
from noughts.web.settings import Settings, from_environment

ACCEPTED_AT_ONCE = 16
"""How often a single process listens at its socket: libuv accepts one connection per listener and turn.

Many connections that come at once would wait for hundreds of turns. Each of several workers listens
once, so that all get work.
"""

RESTART_SECONDS = 1.0
"""How long to wait before replacing a worker that has never started."""

RESERVED_DESCRIPTORS = 64
"""Kept free of connections: for the store, and for tools that inspect the process."""

STARTED = "started"
"""What a worker reports when it serves; else it reports an error."""

_SPAWN = multiprocessing.get_context("spawn")


def serve(host: str, port: int, store: str, bots: str | Sequence[str], workers: int, out: TextIO) -> None:
    """Serve the games of a store until a signal comes.

    Bots are NAME=FILE each; or one text, separated by commas.
    """
    settings = from_environment(os.environ, store=store)
    if workers > 1:
        if store == "memory:":
            raise InvalidSetting("workers share their games through a store, and memory: can't be shared")
        settings = msgspec.structs.replace(settings, shared=1)
    offered = bots or settings.bots
    policies = read_policies(split_offered(offered) if isinstance(offered, str) else offered)
    log_to_stderr(settings.log, settings.log_format)
    # A store that can't be opened is reported here, in one sentence.
    open_store(store, checkpoint_file=settings.checkpoint_file).close()
    job = Job(settings, policies, _listen(host, port))
    place = f"[{host}]" if ":" in host else host
    address = f"http://{place}:{job.listener.getsockname()[1]}"

    def announce() -> None:
        print(f"Serving on {address}", file=out, flush=True)

    if workers > 1:
        run_workers(workers, job, announce)
    else:
        ending = Ending()
        ending.catch_signals()
        run_process(job, ending, announce, times=ACCEPTED_AT_ONCE)
        if ending.error:
            raise ending.error


class Job(NamedTuple):
    """What a process serves, and where."""

    settings: Settings
    policies: Mapping[str, Policy]
    listener: socket.socket


class Ending:
    """How a process ends: by a signal, or by an error."""

    def __init__(self) -> None:
        self.error: NoughtsError | None = None
        self.is_interrupted = False
        self.count = 0
        self.wake: Callable[[], object] = lambda: None

    def catch_signals(self) -> None:
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup wants it to go on
            signal.signal(signal.SIGHUP, self._on_signal)

    def _on_signal(self, number: int, _frame: object) -> None:
        self.count += 1
        self.is_interrupted = self.is_interrupted or number == signal.SIGINT
        self.wake()

    def fail(self, error: NoughtsError) -> None:
        self.error = self.error or error
        self.count += 1
        self.wake()


def run_process(job: Job, ending: Ending, on_start: Callable[[], None], *, times: int) -> None:
    """Serve in this process until a signal or an error ends it."""
    try:
        import uvloop  # noqa: PLC0415 - it is not on every system

        new_loop: Callable[[], asyncio.AbstractEventLoop] | None = uvloop.new_event_loop
    except ImportError:
        new_loop = None
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_serve_until_ended(job, ending, on_start, times))
    if ending.is_interrupted:
        raise KeyboardInterrupt


async def _serve_until_ended(job: Job, ending: Ending, on_start: Callable[[], None], times: int) -> None:
    """Serve; a signal that comes later, while the loop is closed, does not wake it."""
    is_ending = asyncio.Event()
    ending.wake = partial(asyncio.get_running_loop().call_soon_threadsafe, is_ending.set)
    try:
        await _serve(job, ending, is_ending, on_start, times)
    finally:
        ending.wake = lambda: None


async def _serve(
    job: Job, ending: Ending, is_ending: asyncio.Event, on_start: Callable[[], None], times: int
) -> None:
    if ending.count:
        is_ending.set()
    opening = asyncio.ensure_future(open_app(job.settings, job.policies, ending.fail, may_create=False))
    interrupted = asyncio.ensure_future(is_ending.wait())
    await asyncio.wait((opening, interrupted), return_when=asyncio.FIRST_COMPLETED)
    interrupted.cancel()
    if not opening.done():  # a database may be away
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        return
    app = opening.result()
    _freeze_memory()
    server = Server(app, Connection, _max_connections(job.settings.most_connections))
    await server.listen(job.listener, times)
    on_start()
    parent = multiprocessing.parent_process()
    while not is_ending.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await is_ending.wait()
        if parent and not parent.is_alive():
            break
    closing = asyncio.ensure_future(_close(server, app))
    while not closing.done():
        is_ending.clear()
        impatient = asyncio.ensure_future(is_ending.wait())
        await asyncio.wait((closing, impatient), return_when=asyncio.FIRST_COMPLETED)
        impatient.cancel()
        if ending.is_interrupted and ending.count > 1:
            closing.cancel()
            break


async def _close(server: Server, app: App) -> None:
    app.streams.close()
    await server.close()
    await app.close()


def _freeze_memory() -> None:
    """Exempt what lives as long as the process from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def _max_connections(asked: int) -> int:
    """Return how many connections there can be: each takes a file descriptor."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    if soft == resource.RLIM_INFINITY:
        return asked
    return min(asked or soft, max(1, soft - RESERVED_DESCRIPTORS))


def run_workers(number: int, job: Job, announce: Callable[[], None]) -> None:
    """Serve in several processes that listen at one socket, until a signal comes or one can't go on.

    One that dies is replaced.
    """
    ending = Ending()
    ending.catch_signals()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    workers = dict(_start_worker(job) for _ in range(number))
    started: set[BaseProcess] = set()
    is_announced = False
    try:
        while not ending.count:
            wait([reading, *workers.values(), *(worker.sentinel for worker in workers)])
            for worker, pipe in tuple(workers.items()):
                report = _report(pipe)
                if report == STARTED:
                    started.add(worker)
                elif report:
                    ending.fail(ServerFailed(report))
                elif not worker.is_alive() and not ending.count:
                    del workers[worker]
                    if worker not in started:  # it would die again at once
                        wait([reading], RESTART_SECONDS)
                    workers.update([_start_worker(job)])
            if not is_announced and len(started) >= number:
                is_announced = True
                announce()
    finally:
        signal.set_wakeup_fd(-1)
        for worker in workers:
            worker.terminate()
        for worker in workers:
            while worker.is_alive():
                worker.join(0.1)
                if ending.is_interrupted and ending.count > 1:
                    worker.kill()
    if ending.error:
        raise ending.error
    if ending.is_interrupted:
        raise KeyboardInterrupt


def _start_worker(job: Job) -> tuple[BaseProcess, Pipe]:
    reading, writing = _SPAWN.Pipe(duplex=False)
    worker = _SPAWN.Process(target=_work, args=(job, writing))
    worker.start()
    writing.close()
    return worker, reading


def _report(pipe: Pipe) -> str | None:
    """Return the report of a worker, if there is one."""
    with suppress(EOFError):
        if pipe.poll():
            return str(pipe.recv())
    return None


def _work(job: Job, pipe: Pipe) -> None:
    """Run a worker; its parent gets every signal that concerns all of them."""
    log_to_stderr(job.settings.log, job.settings.log_format)
    ending = Ending()
    ending.catch_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run_process(job, ending, lambda: pipe.send(STARTED), times=1)
    except NoughtsError as error:
        ending.error = error
    if ending.error:
        pipe.send(str(ending.error))


def _listen(host: str, port: int) -> socket.socket:
    try:
        return listening_socket(host, port)
    except (OSError, OverflowError, TypeError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise InvalidSetting(f"{quoted(host)} port {port} cannot be served: {words}") from error
