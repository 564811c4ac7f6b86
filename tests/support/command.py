"""Runs the real `noughts` command, as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from support.deadlines import DEADLINE_SECONDS

COMMAND = (sys.executable, "-m", "noughts")

# Variables of the developer's shell that would affect the tests.
_UNSET = (
    *("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"),
    *("PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8"),
)

TESTS = Path(__file__).parents[1]


def script(module: str) -> tuple[str, ...]:
    """Return the command line that runs a helper module as a script."""
    run = f"import runpy, sys; sys.path.insert(0, {str(TESTS)!r}); sys.argv[0] = {module!r}; "
    return sys.executable, "-c", run + f"runpy.run_module({f'support.{module}'!r}, run_name='__main__')"


def environment(**changes: str) -> dict[str, str]:
    """Return an environment that is the same on every machine, saves no games and prints lines."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
    ours = {"LC_ALL": "C.UTF-8", "TERM": "xterm", "NOUGHTS_STORE": "memory:", "NOUGHTS_PLAIN": "1"}
    return {**kept, **ours, **changes}


def noughts(
    *arguments: str,
    typed: str | bytes = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command with this input, and return its output."""
    ran = subprocess.run(
        [*COMMAND, *arguments],
        input=typed.encode() if isinstance(typed, str) else typed,
        capture_output=True,
        env=env or environment(),
        cwd=cwd,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    return subprocess.CompletedProcess(ran.args, ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def shell(
    script: str, *arguments: str, env: Mapping[str, str] | None = None, pass_fds: Collection[int] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which "$@" is the command."""
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=env or environment(PYTHONUNBUFFERED=""),
        pass_fds=pass_fds,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


def run_unread(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command with its output in a closed pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=env or environment(PYTHONUNBUFFERED=""),
            timeout=DEADLINE_SECONDS,
            check=False,
        )
    finally:
        os.close(writing)
