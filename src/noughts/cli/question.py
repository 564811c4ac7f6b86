"""Questions to a player, and what can be answered: words to type, or single keys on a live board."""

from __future__ import annotations

from collections.abc import Iterable

from noughts.core.board import Cell
from noughts.core.errors import UnreadableCell, quoted
from noughts.core.value import Value
from noughts.text.speaker import READING_ORDER


class Action(Value):
    """Something a player can do besides placing a token."""

    key: str
    """What is pressed on a live board."""
    word: str
    """What is typed where whole lines are read."""
    label: str
    """What the key does, by its name in the catalogue."""
    confirm: str = ""
    """The question to confirm it, by its name in the catalogue, if it cannot be undone."""
    arrows: str = ""
    """The arrows that mean it, by the letters that end their sequences."""


class Question(Value):
    """A question, with what can be answered."""

    text: str
    actions: tuple[Action, ...] = ()
    wants_cell: bool = False
    """Whether a cell is an answer, too."""
    default: str = ""
    """The word that Enter means, if it does not mean a cell."""


QUIT = Action("q", "quit", "key.quit")
HELP = Action("?", "help", "key.help")
HINT = Action("h", "hint", "key.hint")
WHY = Action("w", "why", "key.why")
UNDO = Action("u", "undo", "key.undo")
RESIGN = Action("r", "resign", "key.resign", confirm="live.resign")

MOVE_ACTIONS = HINT, WHY, UNDO, RESIGN, HELP, QUIT
WAIT_ACTIONS = WHY, UNDO, RESIGN, HELP, QUIT
"""For a player on a server whose turn it is not."""
SEE_ACTIONS = HINT, WHY, HELP, QUIT
"""For somebody who watches a game on a server."""

NEXT = Action("n", "next", "key.next", arrows="CB")
BACK = Action("b", "back", "key.back", arrows="DA")
WATCH_ACTIONS = NEXT, QUIT
STEP_ACTIONS, LAST_STEP_ACTIONS = (NEXT, BACK, QUIT), (BACK, QUIT)

YES, NO = Action("y", "yes", "key.yes"), Action("n", "no", "key.no")
YES_WORDS, NO_WORDS = ("y", "yes"), ("n", "no")

AGAIN = Action("y", "yes", "key.again")
HARDER = Action("+", "harder", "key.harder")
EASIER = Action("-", "easier", "key.easier")
SWAP = Action("o", "swap", "key.swap")
REVIEW = Action("w", "review", "key.review")
LEAVE = Action("q", "no", "key.quit")

SYNONYMS = {**{action.key: action.word for action in MOVE_ACTIONS}, "exit": QUIT.word}


def read_words(line: str, actions: Iterable[Action] = ()) -> str:
    """Return a typed line in small letters and with single spaces, and its first word in full.

    The keys of `actions` are short for their words.

    >>> read_words("W  5"), read_words("exit"), read_words("5")
    ('why 5', 'quit', '5')
    >>> read_words("w", [REVIEW])
    'review'
    """
    words = {**SYNONYMS, **{action.key: action.word for action in actions}}
    first, *others = line.lower().split() or [""]
    return " ".join([words.get(first, first), *others])


def read_cell(words: str) -> Cell:
    """Read the number that a player types for a cell, 1 to 9."""
    if len(words) != 1 or words not in READING_ORDER:
        raise UnreadableCell(f"{quoted(words)} is not a cell: type a number from 1 to 9")
    return READING_ORDER.index(words)
