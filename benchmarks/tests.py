"""Where the processor time of a test run goes: `python -m benchmarks.tests`, with options of pytest.

Each test process notes what it spends itself and what the processes that it started have spent by the
time they end. The command adopts those that nobody waits for, such as the servers of PostgreSQL. Linux
only.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FOLDER = "NOUGHTS_TEST_COSTS"
"""The variable with the folder that the test processes write to."""
SET_CHILD_SUBREAPER = 36
"""The option of prctl that adopts processes whose parents have ended."""
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
KINDS = {
    "support.forked": "the command, forked",
    "fork_client": "the command, forked",
    "-m noughts serve": "servers",
    "-m noughts": "the command, started",
    "playwright": "browsers",
    "chrom": "browsers",
    "postgres": "PostgreSQL",
    "pginstall": "PostgreSQL",
}
"""What a command line is of, by the first of these words in it."""
MIN_FILE_SECONDS = 10

_costs: defaultdict[str, float] = defaultdict(float)
"""Seconds by cause."""
_counts: defaultdict[str, int] = defaultdict(int)
"""How many processes were started, by kind."""
_files: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0, 0])
"""Tests, own seconds and seconds of other processes, by file."""
_kinds: dict[int, str] = {}
"""What the processes are that were started."""
_start, _wait, _send = subprocess.Popen.__init__, os.waitpid, socket.send_fds


def kind_of(words: Iterable[str]) -> str:
    """Say what a command line starts."""
    line = " ".join(words)
    found = next((kind for word, kind in KINDS.items() if word in line), "other processes")
    return "servers" if line.endswith(" serve") else found


def start_and_note(process: subprocess.Popen[bytes], args: Any, *more: Any, **named: Any) -> None:  # noqa: ANN401 - passed on
    """Start a process, and note what it is."""
    _start(process, args, *more, **named)
    words = [args] if isinstance(args, str | bytes | os.PathLike) else args
    kind = _kinds[process.pid] = kind_of(map(os.fsdecode, words))
    _counts[kind] += 1


def wait_and_note(process: int, options: int, /) -> tuple[int, int]:
    """Wait for a process, and note what it and those below it have spent."""
    ended, status, used = os.wait4(process, options)
    if ended:
        _costs[_kinds.pop(ended, "other processes")] += used.ru_utime + used.ru_stime
    return ended, status


def send_and_note(connection: socket.socket, messages: list[bytes], *more: Any) -> int:  # noqa: ANN401 - passed on
    """Count what is sent to a process that forks."""
    _counts["servers" if messages[0].startswith(b"(('serve'") else "the command, forked"] += 1
    return _send(connection, messages, *more)


def descendants_seconds(process: int) -> float:
    """Return the time of the processes below this one, and of those that they have waited for."""
    ticks, below = 0, 0.0
    with suppress(OSError):  # it has just ended
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
                below += descendants_seconds(int(child))
    return ticks / TICKS_PER_SECOND + below


def others_seconds() -> float:
    """Return the time of all processes below this one so far."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime + descendants_seconds(os.getpid())


# What pytest calls in each test process


def pytest_configure(config: pytest.Config) -> None:
    """Note what is started, except in the process that only hands out the tests."""
    if hasattr(config, "workerinput") or not config.option.numprocesses:
        subprocess.Popen.__init__ = start_and_note  # type: ignore[method-assign, assignment]
        os.waitpid = wait_and_note
        socket.send_fds = send_and_note  # type: ignore[assignment]
        atexit.register(write)


def pytest_collection_finish() -> None:
    """Note the time until the first test."""
    _costs["starting and collecting"] = time.process_time()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the time of a test with its fixtures."""
    own, others = time.process_time(), others_seconds()
    try:
        return (yield)
    finally:
        spent = time.process_time() - own
        is_property = hasattr(getattr(item, "obj", None), "hypothesis")
        _costs["properties" if is_property else "other tests"] += spent
        noted = _files[item.nodeid.partition("::")[0]]
        for place, more in enumerate((1, spent, others_seconds() - others)):
            noted[place] += more


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Iterator[None]:
    """Note the time of a fixture as its own."""
    own = time.process_time()
    try:
        return (yield)
    finally:
        spent = time.process_time() - own
        _costs["fixtures"] += spent
        _costs["other tests"] -= spent


def write() -> None:
    """Write what was noted, at the very end."""
    noted = sum(_costs[cause] for cause in ("starting and collecting", "properties", "other tests"))
    _costs["running and reporting"] += time.process_time() - noted - _costs["fixtures"]
    path = Path(os.environ[FOLDER], f"{os.getpid()}.json")
    path.write_text(json.dumps([_costs, _counts, _files]))


# What the command does


def main(arguments: Sequence[str]) -> int:
    """Run the tests, and print where the time went."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-p", "benchmarks.tests", *arguments]
        run = os.posix_spawn(sys.executable, command, {**os.environ, FOLDER: folder})
        code, wall, total = 2, 0.0, 0.0
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                break
            process = ended.si_pid if ended else 0
            name = Path(f"/proc/{process}/comm").read_text()
            _, status, used = os.wait4(process, 0)
            spent = used.ru_utime + used.ru_stime
            total += spent
            if process == run:
                code, wall = os.waitstatus_to_exitcode(status), time.perf_counter() - began
            else:
                _costs[kind_of([name])] += spent
        for path in Path(folder).iterdir():
            costs, counts, files = json.loads(path.read_text())
            for cause, seconds in costs.items():
                _costs[cause] += seconds
            for kind, count in counts.items():
                _counts[kind] += count
            for file, noted in files.items():
                _files[file] = [one + more for one, more in zip(_files[file], noted, strict=True)]
    _costs["running and reporting"] += total - sum(_costs.values())  # of the process that hands out tests
    print_table(wall, total)
    return code


def print_table(wall: float, total: float) -> None:
    """Print the time by cause, and by file for those that take long."""
    print(f"\n|of {total:.0f} s on the processors, in {wall:.0f} s|started|seconds|\n|---|---|---|")
    for cause, seconds in sorted(_costs.items(), key=lambda one: -one[1]):
        print(f"|{cause}|{_counts.get(cause, '')}|{seconds:.0f}|")
    print("\n|file|tests|own seconds|other processes|\n|---|---|---|---|")
    for file, (tests, own, others) in sorted(_files.items(), key=lambda one: -sum(one[1][1:])):
        if own + others >= MIN_FILE_SECONDS:
            print(f"|{file}|{tests:.0f}|{own:.0f}|{others:.0f}|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
