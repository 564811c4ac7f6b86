"""`make transcripts`: the programs of the documents on a terminal, written into `docs/transcripts.md`."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.emulator import Emulator
from support.in_place import SIZE, documents, follow
from support.live_board import LiveBoard
from support.pseudo_terminal import in_terminal
from support.sessions import Step

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = DOCS.parent / "examples" / "documents"
HEAD = """\
# Transcripts

The programs of the five documents on a terminal (`make transcripts` plays and writes them).
First `noughts` with a board in place: each new screen with a sentence or a board of the document, and
what stays in the window in the end. Then the programs of `examples/documents/`, line by line.
"""
GAMES = "watch --interval 0 --seed 11", "play --no-save --wording gem --x bob --o frank", "play --no-save"
"""The sessions that are shown, one for each document that prints a game."""
EXAMPLES = [
    ("narrative.py --interval 0", "", ""),
    ("events.py gameCreated 'playerPlacedToken(0,0,X)' 'playerPlacedToken(0,0,O)'", "", ""),
    ("algorithm.py", r"empty cell: .+\n|\(y/n\)\r\n", "114253n"),
    ("algorithm.py --all", "", ""),
    ("gem.py", r"make your move\r\n", "1142536"),
    ("kata.py", r"1 to 9:\r\n", "501238"),
]
"""The programs, what ends their questions, and the answers."""
ROWS = 200
"""Enough for all that a program prints."""


def game(step: Step) -> Iterator[str]:
    """Yield the screens of a game, and what was pressed between them."""
    arguments, last = shlex.split(step.command)[1:], ""
    with tempfile.TemporaryDirectory() as home, LiveBoard(Path(home), *arguments, size=SIZE) as live:
        for frame, next_key in follow(step, live):
            if next_key or step.command.startswith("noughts watch"):
                yield from [_block(frame)] * (frame != last)
                yield from [f"Then the key `{next_key}`:"] * bool(next_key)
                last = frame
        live.end()
        yield "In the end:"
        yield _block(live.screen.text)


def program(command: str, question: str, answers: str) -> str:
    """Return what is on the terminal after a program."""
    screen = Emulator(SIZE[0], ROWS)
    shell = "/bin/sh", "-c", f"exec {shlex.quote(sys.executable)} {PROGRAMS}/{command}"
    with in_terminal(shell=shell, size=(SIZE[0], ROWS), echo=True) as session:
        for answer in answers:
            if session.wait_for(question):
                session.type(f"{answer}\n")
        session.end()
        screen.feed(session.output)
    return _block(screen.text)


def page() -> Iterator[str]:
    yield HEAD.strip()
    for command in GAMES:
        yield f"## `noughts {command}`"
        yield from game(next(step for step in documents() if step.command == f"noughts {command}"))
    for command, question, answers in EXAMPLES:
        yield f"## `python examples/documents/{command}`"
        yield program(command, question, answers)


def _block(text: str) -> str:
    rows = [row for row in text.split("\n") if row]
    return "\n".join(("```text", *rows, "```"))


if __name__ == "__main__":
    (DOCS / "transcripts.md").write_text("\n\n".join(page()) + "\n", encoding="utf-8")
