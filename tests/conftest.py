"""Settings of all tests, and the figures printed after a run."""

from __future__ import annotations

import gc
import signal
from collections import Counter
from collections.abc import Iterable
from itertools import chain

import pytest
from hypothesis import settings

from support.figures import lines
from support.length import short_or_long

# The same examples on every run, and no deadline, for slow machines; long runs try more examples.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
settings.register_profile("short", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=2_000)
settings.load_profile(short_or_long("short", "long"))

# A shell makes background processes ignore Ctrl-C, and their children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start with the tests that would otherwise hold up the end of the run.

    A worker gets an equal share of the list, and later the ends of the shares of others. Tests that
    mostly wait come first in one share, so that the other workers are busy meanwhile; those that are
    long in `make torture` come first in every share.
    """
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)
    if short_or_long(short=False, long=True):
        workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
        long = [item for item in items if item.get_closest_marker("torture")]
        rest = [item for item in items if not item.get_closest_marker("torture")]
        shares = [
            long[worker::workers]
            + rest[worker * len(rest) // workers : (worker + 1) * len(rest) // workers]
            for worker in range(workers)
        ]
        items[:] = chain.from_iterable(shares)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from scanning the objects that live as long as the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures of the hostile tests from all processes."""
    properties = [
        report.user_properties
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        if report.when == "call"
    ]
    for line in (*_hostile_runs(properties), *lines(one for own in properties for one in own)):
        terminalreporter.write_line(line)


def _hostile_runs(properties: Iterable[list[tuple[str, object]]]) -> list[str]:
    """Return a summary of the hostile runs of the command."""
    runs = [run for own in properties if "exit code" in (run := dict(own))]
    if not runs:
        return []
    codes = Counter(run["exit code"] for run in runs)
    tracebacks = sum(bool(run.get("traceback")) for run in runs)
    ends = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items(), key=str))
    return [f"{len(runs)} hostile runs: {tracebacks} tracebacks, exit codes {{{ends}}}"]
