"""Settings of all tests, and the figures printed after a run."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import settings

from support.figures import lines

# The same examples on every run, and no deadline, for slow machines; long runs try more examples.
settings.register_profile("short", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)
settings.load_profile("long" if os.environ.get("NOUGHTS_TORTURE") else "short")

# A shell makes background processes ignore Ctrl-C, and their children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests that mostly wait, so that they don't hold up the end of the run."""
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)


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
