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
quit    leave; a saved game can be continued"""

SHORT_HELP = "hint why undo quit"
