"""Players and their names.

A name is checked when it is entered, and not when a record is read: a game that was saved under other
rules, or with a newer Unicode, stays readable.
"""

from __future__ import annotations

from noughts.core.board import AnyMark, Mark, as_mark
from noughts.core.errors import JOINERS, InvalidName, printable, quoted
from noughts.core.value import Value

MAX_NAME_CHARACTERS = 32

_MAX_UNCOMPOSED_CHARACTERS = 4 * MAX_NAME_CHARACTERS  # a character has at most four parts

_ZWJ = "\u200d"
_EMOJI_STYLE = "\ufe0f"  # variation selector 16: the emoji form of the symbol before it
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_KEYCAPS = "0123456789#*"

# Unicode's Default_Ignorable_Code_Point, characters that are not shown, as ranges.
_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
# Not ignorable, but invisible: blanks of Braille, Egyptian, Khitan and musical notation.
_BLANKS = "\u2800\U00013441\U00013442\U00016fe4\U0001d159"

# Scripts in which a joiner changes nothing, by the names of their characters.
_WITHOUT_JOINERS = ("LATIN ", "GREEK ", "CYRILLIC ", "MODIFIER ")


class Player(Value):
    """A person or a bot, with their mark.

    >>> Player(name="bob", mark=Mark.X)
    Player(name='bob', mark=X)
    """

    name: str
    mark: Mark

    def __init__(self, name: str, mark: AnyMark) -> None:
        super().__init__(clean_name(name), as_mark(mark))

    @classmethod
    def recorded(cls, name: str, mark: AnyMark) -> Player:
        """Return a player from a record, whose name is not checked."""
        if not isinstance(name, str):
            raise InvalidName(f"a name is text, not {quoted(name)}")
        player = cls.__new__(cls)
        Value.__init__(player, name, as_mark(mark))
        return player


def clean_name(name: str) -> str:
    r"""Normalize a name that somebody enters, or refuse it.

    A name has 1 to 32 characters after composition (NFC) and stripping, at least one of them visible. No
    character moves the cursor, changes colours or the direction of writing, or is invisible; joiners are
    allowed where they join something.

    >>> clean_name(" Zoe\u0308 ")
    'Zoë'
    """
    if not isinstance(name, str):
        raise InvalidName(f"a name is text, not {quoted(name)}")
    if len(name) > _MAX_UNCOMPOSED_CHARACTERS:  # too long even when composed
        raise InvalidName(_too_long(len(name)))
    if not (name.isascii() and name.isprintable()):  # most names don't need Unicode tables
        name = _composed(name)
    clean = name.strip()
    if not clean:
        raise InvalidName(f"a name has 1 to {MAX_NAME_CHARACTERS} characters, and this one is empty")
    if len(clean) > MAX_NAME_CHARACTERS:
        raise InvalidName(_too_long(len(clean)))
    return clean


def is_same_name(one: str, other: str) -> bool:
    """Return whether two names differ only in case or form, which is too alike for one game.

    >>> is_same_name("Bob", "bob"), is_same_name("bob", "rob")
    (True, False)
    """
    return name_key(one) == name_key(other)


def check_names_differ(name: str, taken: str) -> None:
    """Refuse a name that is too much like the other player's.

    >>> check_names_differ("Bob", "bob")
    Traceback (most recent call last):
    noughts.core.errors.InvalidName: the players need different names, and 'Bob' is too much like 'bob'
    """
    if is_same_name(name, taken):
        how = "taken" if name == taken else f"too much like '{printable(taken)}'"
        raise InvalidName(f"the players need different names, and '{name}' is {how}")


def name_key(name: str) -> str:
    """Return a form of a name (NFKC, casefolded) that is equal for equal names."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize  # noqa: PLC0415 - rarely needed

    folded = normalize("NFKC", name).casefold()
    return normalize("NFKC", "".join(sign for sign in folded if not _is_ignorable(sign)))


def _composed(name: str) -> str:
    """Compose a name (NFC), or refuse its first bad character."""
    from unicodedata import category, normalize  # noqa: PLC0415 - rarely needed

    name = normalize("NFC", name)
    for place, sign in enumerate(name):
        if sign in _BLANKS or (_is_ignorable(sign) and not _is_of_use(name, place)):
            raise InvalidName(f"a name cannot contain invisible characters: {_named(sign, place)}")
        if not sign.isprintable() and sign not in JOINERS:
            raise InvalidName(f"a name can only contain printable characters: {_named(sign, place)}")
    if name.strip() and all(category(sign)[0] in "MZ" for sign in name):
        raise InvalidName("a name needs a character that is visible by itself")
    return name


def _is_ignorable(sign: str) -> bool:
    return any(first <= ord(sign) <= last for first, last in _IGNORABLE)


def _is_of_use(name: str, place: int) -> bool:
    """Return whether the invisible character there changes how its neighbours look."""
    from unicodedata import category  # noqa: PLC0415 - rarely needed

    sign, before, after = name[place], name[:place], name[place + 1 : place + 2]
    if sign == _EMOJI_STYLE:
        return _is_symbol(before[-1:]) or before[-1:] in (*_KEYCAPS,)
    if sign not in JOINERS:
        return False
    if _is_symbol(after):
        return sign == _ZWJ and _is_symbol(before.rstrip(_EMOJI_STYLE + _SKIN_TONES)[-1:])
    letter = next((one for one in reversed(before) if category(one)[0] != "M"), "")
    return _is_joinable(letter) and (_is_joinable(after) or (after != "" and category(after)[0] == "M"))


def _is_symbol(sign: str) -> bool:
    """Return whether a character can be an emoji: a symbol outside ASCII."""
    from unicodedata import category  # noqa: PLC0415 - rarely needed

    return not sign.isascii() and category(sign) in ("So", "Sm")


def _is_joinable(sign: str) -> bool:
    """Return whether a character is a letter of a script with joiners."""
    from unicodedata import category, name, normalize  # noqa: PLC0415 - rarely needed

    if not sign or category(sign)[0] != "L":
        return False
    return not any(name(part, "").startswith(_WITHOUT_JOINERS) for part in normalize("NFKC", sign))


def _named(sign: str, place: int) -> str:
    """Name an invisible character.

    >>> _named("\u200d", 3)
    'character 4 is U+200D, zero width joiner'
    """
    from unicodedata import name  # noqa: PLC0415 - rarely needed

    known = name(sign, "").lower()
    return f"character {place + 1} is U+{ord(sign):04X}{f', {known}' if known else ''}"


def _too_long(length: int) -> str:
    return f"a name has 1 to {MAX_NAME_CHARACTERS} characters, and this one has {length}"
