"""Runs several threads or processes at the same time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Barrier, Thread

from noughts import NoughtsError
from support.deadlines import LONG_DEADLINE_SECONDS


def run_code(
    code: str,
    *arguments: str,
    check: bool = False,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run Python code in another process; `check` raises if it fails."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LONG_DEADLINE_SECONDS,
        check=check,
        cwd=cwd,
        env=env,
    )


def in_threads(*works: Callable[[], object]) -> list[object]:
    """Run functions at the same time; return the result of each, or the NoughtsError it raised."""
    start = Barrier(len(works))
    outcomes: list[object] = [None] * len(works)
    failures: list[BaseException] = []

    def do(number: int, work: Callable[[], object]) -> None:
        start.wait()
        try:
            outcomes[number] = work()
        except NoughtsError as refusal:
            outcomes[number] = refusal
        except BaseException as failure:  # noqa: BLE001 - raised below
            failures.append(failure)

    threads = [Thread(target=do, args=pair, daemon=True) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_DEADLINE_SECONDS)
        assert not thread.is_alive(), "a thread hangs"
    if failures:
        raise failures[0]
    return outcomes
