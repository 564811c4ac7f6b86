"""Who sits in a seat: a name and a mark."""

from __future__ import annotations

import unicodedata

from noughts.core.board import Mark, check_mark
from noughts.core.errors import InvalidName, quoted
from noughts.core.value import Value

LONGEST_NAME = 32


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

    A name has 1 to 32 printable characters once it is composed (NFC) and the space around it is cut
    away. Whatever moves the cursor, changes colours or turns the direction of writing is not printable.
    """
    if not isinstance(name, str):
        raise InvalidName(f"a name is text, not {quoted(name)}")
    if len(name) > 4 * LONGEST_NAME:  # composing cannot bring it down far enough, so spare the work
        raise InvalidName(_too_long(len(name)))
    clean = unicodedata.normalize("NFC", name).strip()
    if not clean:
        raise InvalidName(f"a name has 1 to {LONGEST_NAME} characters, and this one is empty")
    if not clean.isprintable():
        raise InvalidName(f"a name has printable characters only, unlike {quoted(clean)}")
    if len(clean) > LONGEST_NAME:
        raise InvalidName(_too_long(len(clean)))
    return clean


def _too_long(length: int) -> str:
    return f"a name has 1 to {LONGEST_NAME} characters, and this one has {length}"
