"""What a player can type, here and in a game on a server."""

HELP = """\
Type the number of a free cell, 1 to 9, row by row from the top left;
row,column (0,0 to 2,2) and a1 to c3 name the same cells.
hint    show a best move, and why it is one
why     explain the last token; why 5, what a token on 5 would do
undo    take back the last token; against a bot or on a server, your last token
        and the answer to it (a person on a server is asked first)
resign  give the game up
help    show this
quit    leave; a saved game can be continued
h, w, u, r, ? and q are short for these words."""

SHORT_HELP = "hint why undo quit"

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
