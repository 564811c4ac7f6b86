"""Short words for what a player can type, here and in a game on a server."""

SYNONYMS = {
    "h": "hint",
    "w": "why",
    "u": "undo",
    "r": "resign",
    "?": "help",
    "q": "quit",
    "exit": "quit",
}


def read_words(line: str) -> str:
    """Return a typed line in small letters and with single spaces, and its first word in full.

    >>> read_words("W  B2"), read_words("exit"), read_words("5")
    ('why b2', 'quit', '5')
    """
    first, *others = line.lower().split() or [""]
    return " ".join([SYNONYMS.get(first, first), *others])
