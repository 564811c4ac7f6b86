"""What the tests tell beyond passed and failed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how the hostile runs of the command ended, whichever process ran them."""
    runs = [
        dict(report.user_properties)
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        if report.when == "call"
    ]
    codes = Counter(run["exit code"] for run in runs if "exit code" in run)
    tracebacks = sum(run.get("traceback", False) for run in runs)
    if codes:
        ends = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
        terminalreporter.write_line(
            f"{codes.total()} hostile runs: {tracebacks} tracebacks, exit codes {{{ends}}}"
        )
