"""Who sits in a seat: a name and a mark."""

from __future__ import annotations

import unicodedata

from noughts.core.board import Mark, check_mark
from noughts.core.errors import InvalidName, quoted
from noughts.core.value import Value

LONGEST_NAME = 32

_LONGEST_UNCOMPOSED = 4 * LONGEST_NAME  # no character is composed of more than four
_BLANKS = " \u115f\u1160\u2800\u3164\uffa0"  # printable for Python, and yet nothing to see


class Player(Value):
    """Somebody, or a bot, with the mark they place.

    >>> Player(name="bob", mark=Mark.X)
    Player(name='bob', mark=X)
    """

    name: str
    mark: Mark

    def __init__(self, name: str, mark: Mark) -> None:
        check_mark(mark)
        super().__init__(clean_name(name), mark)


def clean_name(name: str) -> str:
    """Return the name in its one form, or refuse it.

    A name has 1 to 32 printable characters once it is composed (NFC) and the spaces around it are cut
    away, and something to see among them. Whatever moves the cursor, changes colours or turns the
    direction of writing is not printable.
    """
    if not isinstance(name, str):
        raise InvalidName(f"a name is text, not {quoted(name)}")
    if len(name) > _LONGEST_UNCOMPOSED:  # composed it would be too long still, so spare the work
        raise InvalidName(_too_long(len(name)))
    if not name.isprintable():
        raise InvalidName(f"a name has printable characters only, unlike {quoted(name)}")
    clean = unicodedata.normalize("NFC", name).strip()
    if not clean:
        raise InvalidName(f"a name has 1 to {LONGEST_NAME} characters, and this one is empty")
    if not any(map(_is_visible, clean)):
        raise InvalidName(f"a name has something to see in it, unlike {clean!a}")
    if len(clean) > LONGEST_NAME:
        raise InvalidName(_too_long(len(clean)))
    return clean


def _is_visible(sign: str) -> bool:
    """Tell whether a character leaves a mark of its own: neither a blank nor a mark upon another."""
    return sign not in _BLANKS and not unicodedata.category(sign).startswith("M")


def _too_long(length: int) -> str:
    return f"a name has 1 to {LONGEST_NAME} characters, and this one has {length}"
