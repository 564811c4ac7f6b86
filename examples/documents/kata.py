"""The kata: Player X and Player O enter positions from 1 to 9, until one has a line or the game is draw.

Run it with `python examples/documents/kata.py`. Its document is TicTacToe, a kata for test driven
development.
"""

import sys
from signal import SIG_DFL, SIGPIPE, signal

from noughts import KATA, Board

POSITIONS = {str(3 * row + column + 1): (2 * row, 2 * column) for row in range(3) for column in range(3)}
"""Where each valid position is on the board of 5*5 characters: 1 at (0,0), 2 at (0,2), 9 at (4,4)."""


def draw(board: Board) -> list[str]:
    """Return the board as five rows of five characters; a position that is not occupied is its number."""
    return KATA.draw(board).splitlines()


def is_valid(position: str, board: Board) -> bool:
    """Return whether a position is one of the nine, and not occupied."""
    if position not in POSITIONS:
        return False
    row, column = POSITIONS[position]
    return draw(board)[row][column] == position


def enter_position(board: Board) -> str:
    """Ask the player until a valid position is entered."""
    while True:
        print(f"Player {board.turn}, enter a position from 1 to 9:")
        try:
            position = input().strip()
        except UnicodeDecodeError:  # bytes that are not text
            position = ""
        if is_valid(position, board):
            return position
        print("Position is Invalid!")


def play() -> None:
    """Play one game: X first, then O, and then alternately."""
    board = Board()
    print(*draw(board), sep="\n")
    while not board.is_over:
        position = enter_position(board)
        board = board.place(int(position) - 1)
        print(*draw(board), sep="\n")
    print(f"Player {board.winner} Won!" if board.winner else "Game is Draw!")


if __name__ == "__main__":
    signal(SIGPIPE, SIG_DFL)  # a reader may leave
    try:
        play()
    except (EOFError, RuntimeError):  # the input has ended, or there is none
        print("Goodbye!")
    except KeyboardInterrupt:
        print("\nGoodbye!")
        sys.exit(130)
