"""Follows the sessions of the documents on a board in place, where what they print is seen as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from support.command import TESTS
from support.live_board import LiveBoard
from support.sessions import REST, Step, sessions_of

SIZE = 99, 24
"""Wide enough for the longest sentence, and not so large that a mark takes several rows."""
_PANEL_COLUMN = 28
"""Where the sentences begin, beside the board."""

_SAID = re.compile(
    r"Player [XO]:|.+ has randomly been selected as the first player"
    r"|.+: Enter a number between 1 and 9 to make your move|Position is Invalid!"
    r"|(.+ (?:WON|won|Won)!|THE GAME ENDS WITH A DRAW!|The game ended in a tie|Game is Draw!)"
)
"""What the documents say, the results in a group; the other lines are our own."""
_DRAWN = re.compile(r"(.) (.) (.)|(.)\|(.)\|(.?)|-\+-\+-")
_CELLS = re.compile(r"  (.{7})│(.{7})│(.{7})")
_BOX = re.compile("[┌─┐│└┘═ ]+")


class Moment(NamedTuple):
    """What the window shows: a sentence or a drawing of a session, or the question before a key."""

    frame: str
    next_key: str = ""


def documents() -> list[Step]:
    """Return the commands of the sessions, but for those that are about lines."""
    sessions = sessions_of(TESTS / "cli" / "sessions" / "documents.txt")
    return [step for session in sessions for step in session.steps() if "--plain" not in step.command]


def follow(step: Step, live: LiveBoard) -> Iterator[Moment]:
    """Press what is typed in a session, and wait for what is printed there, in the same order."""
    at = 0
    for part in _parts(step.lines):
        if part[0].startswith("> "):
            key = part[0][-1].replace("n", "q")  # no other game
            at, frame = live.see_frame(_asks, "a question", at)
            yield Moment(frame, key)
            at = len(live.screen.frames)
            live.press(key)
        elif len(part) > 1 or _SAID.fullmatch(part[0]):
            at, frame = live.see_frame(partial(_shows, part), str(part), at)
            yield Moment(frame)


def ending(step: Step) -> list[str]:
    """Return the result and the last board, in the order of the session."""
    parts = [*_parts(step.lines)]
    at = max(at for at, part in enumerate(parts) if (said := _SAID.fullmatch(part[0])) and said[1])
    return [
        line for part in parts[at - 1 : at + 2] if part is parts[at] or len(part) > 1 for line in part
    ]


def fits(line: str, shown: str) -> bool:
    return re.fullmatch(re.escape(line).replace(re.escape(REST), ".*"), shown) is not None


def _parts(lines: list[str]) -> Iterator[tuple[str, ...]]:
    """Split a session into drawings and single lines."""
    at = 0
    while at < len(lines):
        part = tuple(takewhile(_DRAWN.fullmatch, lines[at:])) or (lines[at],)
        yield part
        at += len(part)


def _asks(frame: str) -> bool:
    return "u undo" in frame or "What next?" in frame


def _shows(part: tuple[str, ...], frame: str) -> bool:
    """Return whether a frame shows a sentence or, on its own board, what a drawing shows."""
    rows = [row.ljust(SIZE[0]) for row in frame.split("\n")]
    if len(part) == 1:
        return any(fits(part[0], row[_PANEL_COLUMN:].strip()) for row in rows)
    cells = [row.groups() for row in map(_CELLS.match, rows) if row]
    drawn = [_DRAWN.fullmatch(line) for line in part if line != "-+-+-"]
    signs = [sign.strip() for row in drawn if row for sign in row.groups() if sign is not None]
    shown = [
        _BOX.sub("", "".join(inside))
        for top in (0, 3, 6)
        for inside in zip(*cells[top : top + 3], strict=True)
    ]
    # A highlighted cell shows the mark that would go there.
    return len(shown) == 9 and all(
        sign == here or (here in ("x", "o") and not sign.isalpha())
        for sign, here in zip(signs, shown, strict=True)
    )
