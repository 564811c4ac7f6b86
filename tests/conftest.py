"""Settings that all tests share, and what they tell beyond passed and failed."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import settings

from support.figures import lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

# The same examples on every run, and none is failed for a slow machine; the long runs look further.
settings.register_profile("short", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=2_000)
settings.load_profile("long" if os.environ.get("NOUGHTS_TORTURE") else "short")

# A shell lets what runs in the background ignore Ctrl-C, and whatever that starts would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that wait long and work little, so that nobody waits for them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)


def pytest_collection_finish() -> None:
    """Look for garbage in what the tests make, and not again and again in what lasts as long as they."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how the hostile tests ended, in whichever process they ran."""
    properties = [
        report.user_properties
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        if report.when == "call"
    ]
    for line in (*_hostile_runs(properties), *lines(one for own in properties for one in own)):
        terminalreporter.write_line(line)


def _hostile_runs(properties: Iterable[list[tuple[str, object]]]) -> list[str]:
    """Return how the hostile runs of the command ended."""
    runs = [run for own in properties if "exit code" in (run := dict(own))]
    if not runs:
        return []
    codes = Counter(run["exit code"] for run in runs)
    tracebacks = sum(bool(run.get("traceback")) for run in runs)
    ends = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items(), key=str))
    return [f"{len(runs)} hostile runs: {tracebacks} tracebacks, exit codes {{{ends}}}"]
