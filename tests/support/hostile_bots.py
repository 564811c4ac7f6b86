"""Bots as external programs, good and bad: short Python scripts, each run in its own process.

All start with the same helpers: `read` reads a line, `write` writes one, `wait` blocks until killed.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import TypeAlias

import pytest

Started: TypeAlias = list[subprocess.Popen[bytes]]

_HELPERS = """
import os, signal, sys

def read():
    return sys.stdin.readline().split()

def write(line):
    os.write(1, line.encode() + b"\\n")

def wait():
    while True:
        signal.pause()
"""

_GREETING = """
read()
write("name hostile")
"""

_UNTIL_POSITION = """
while read()[0] != "position":
    pass
"""

POLITE = """
for line in sys.stdin:
    words = line.split()
    if words[0] == "noughts":
        write("name polite")
    if words[0] == "position":
        write(f"move {words[1].replace('/', '').index('_') + 1}")
    if words[0] == "bye":
        break
"""
"""Takes the first free cell, and exits after `bye`."""


def command(code: str, *arguments: object) -> str:
    """Return the command line that runs a Python script."""
    words = [sys.executable, "-I", "-S", "-c", _HELPERS + code, *map(str, arguments)]
    return shlex.join(words)


def program(code: str, *arguments: object) -> str:
    """Return a program as a bot."""
    return f"program:{command(code, *arguments)}"


def greets(code: str) -> str:
    """Return a script that sends its name, then runs this code."""
    return _GREETING + code


def plays(code: str) -> str:
    """Return a script that sends its name, waits for a position, then runs this code."""
    return greets(_UNTIL_POSITION + code)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Return all processes that are started."""
    found: Started = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **settings: object) -> None:
            super().__init__(words, **settings)  # type: ignore[call-overload]  # handed on as they are
            found.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return found


CHILD_THAT_STAYS = "os.fork() or wait()\n"
"""Forks a child that keeps all pipes open."""

ENDLESS_COMPLAINTS = "while True: os.write(2, b'oh no' * 1000)"

AT_ONCE: dict[str, tuple[str, str]] = {
    "exits": ("sys.exit(0)", "ended with exit code 0"),
    "exits with a code": ("sys.exit(42)", "ended with exit code 42"),
    "exits with a word": ("sys.exit('no coffee')", "ended with exit code 1, complaining: 'no coffee'"),
    "crashes": (
        "raise ValueError('no coffee')",
        "ended with exit code 1, complaining: 'ValueError: no coffee'",
    ),
    "is not a program": (
        "this is not Python code",
        "ended with exit code 1, complaining: 'SyntaxError: invalid syntax'",
    ),
    "kills itself": ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9"),
    "ends itself": ("os.kill(os.getpid(), signal.SIGTERM)", "was ended by signal 15"),
    "complains on many lines": (
        "os.write(2, b'one\\ntwo\\n\\n  three  \\n\\n'); sys.exit(3)",
        "ended with exit code 3, complaining: '  three'",
    ),
    "complains in colour": (
        "os.write(2, b'\\x1b[2J\\xff'); sys.exit(3)",
        "ended with exit code 3, complaining: '\\x1b[2J\N{REPLACEMENT CHARACTER}'",
    ),
    "complains at length": (
        "os.write(2, b'start' + b'x' * 50_000); sys.exit(3)",
        f"ended with exit code 3, complaining: '{'x' * 200}'",
    ),
}
"""What a program can do at any time, and the reason reported for it."""

WITHOUT_AN_ANSWER = {
    "is silent": "wait()",
    "stops in a line": "os.write(1, b'na'); wait()",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "closes its input": "os.close(0); wait()",
    "closes its errors": "os.close(2); wait()",
    "ignores every signal": (
        "for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "os.write(1, b'...')\n"
        "wait()"
    ),
    "complains without end": ENDLESS_COMPLAINTS,
    "leaves a child behind": "if os.fork():\n    os._exit(0)\nwait()",
    "leaves many children behind": (
        "for _ in range(20):\n"
        "    if not os.fork():\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        wait()\n"
        "os._exit(0)"
    ),
    "leaves a stopped child behind": (
        "if os.fork():\n    os._exit(0)\nos.kill(os.getpid(), signal.SIGSTOP)"
    ),
    "never stops computing": "while True: pass",
}
"""What a program can do instead of answering."""

TOO_LONG = {
    "a line of 1,001 bytes": "os.write(1, b'x' * 1001 + b'\\n'); wait()",
    "a line without an end": "os.write(1, b'x' * 2000); wait()",
    "an endless line": "while True: os.write(1, b'x' * 4096)",
    "endless noughts": "while True: os.write(1, bytes(4096))",
    "an endless line in small pieces": "while True: os.write(1, b'x')",
}
"""Lines longer than any valid answer."""
