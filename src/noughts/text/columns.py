"""How wide text is on a terminal, where some letters take two columns and some none."""

from __future__ import annotations

import re

from noughts.core.errors import printable

_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_BREAK = re.compile(" (?!(?:\\w+ )?[0-9, ]*\\))")
"""A space where a line may be broken: not among moves in brackets, as in (2, then 1, 9, 4)."""


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes, not counting colours.

    >>> display_width("random"), display_width("三目並べ")
    (6, 8)
    """
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # noqa: PLC0415 - slow, and rarely needed

    return sum(
        (category(sign) not in ("Mn", "Me", "Cf")) + (east_asian_width(sign) in "WF") for sign in text
    )


def shorten(name: str, columns: int) -> str:
    """Return a printable name of at most that width, cut with an ellipsis if need be.

    >>> shorten("club:win=0,block=0,fork=0", 20)
    'club:win=0,block=0,…'
    """
    shown = whole = printable(name)
    while display_width(shown) > columns - (shown != whole):
        shown = shown[:-1]
    return shown if shown == whole else f"{shown}…"


def wrap(text: str, columns: int, indent: int = 0, *, cuts_words: bool = False) -> list[str]:
    """Break lines between words, and with `cuts_words` those that are too long.

    `indent` is for the lines that a long line goes on in; spaces at the beginning of a line are kept.
    Without that, a line with an address stays whole: it is copied together with its command.

    >>> wrap("1. X on 5 has four lines still open.", 20, indent=3)
    ['1. X on 5 has four', '   lines still open.']
    """
    found = []
    for line in text.split("\n"):
        indented = " " * (indent + len(line) - len(line.lstrip(" ")))
        words = _BREAK.split(line)
        if any(display_width(indented + word) > columns for word in words):
            words = line.split(" ")
        if "://" in line and not cuts_words:
            words = [line]
        part = ""
        for number, word in enumerate(words):
            longer = f"{part} {word}" if number else word
            if part.strip() and display_width(longer) > columns:
                found.append(part)
                longer = indented + word
            part = longer
            while cuts_words and display_width(part) > columns > len(indented):
                head = _cut(part, columns)
                found.append(head)
                part = indented + part[len(head) :]
        found.append(part)
    return found


def _cut(text: str, columns: int) -> str:
    """Return the beginning of a text that fits, at least one sign."""
    while len(text) > 1 and display_width(text) > columns:
        text = text[:-1]
    return text


def pad(text: str, columns: int) -> str:
    """Add spaces up to that width.

    >>> pad("三目", 6)
    '三目  '
    """
    return text + " " * (columns - display_width(text))
