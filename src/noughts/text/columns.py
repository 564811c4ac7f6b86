"""How wide text is on a terminal, where some letters take two columns and some none."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from noughts.core.errors import printable


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> display_width("random"), display_width("三目並べ")
    (6, 8)
    """
    return sum((not combining(sign)) + (east_asian_width(sign) in "WF") for sign in text)


def shorten(name: str, columns: int) -> str:
    """Return a printable name of at most that width, cut with an ellipsis if need be.

    >>> shorten("club:win=0,block=0,fork=0", 20)
    'club:win=0,block=0,…'
    """
    shown = whole = printable(name)
    while display_width(shown) > columns - (shown != whole):
        shown = shown[:-1]
    return shown if shown == whole else f"{shown}…"
