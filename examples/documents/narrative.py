"""The narrative: two bots play at random, and nobody blocks or wins on purpose.

Run it with `python examples/documents/narrative.py`, or with `--interval 0` for a game without pauses.
Its document has rules and user stories (US); a board in them is a list of nine "X", "O" and "_".
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterable
from signal import SIG_DFL, SIGPIPE, signal

import noughts

GameBoard = noughts.Board | Iterable[str]


def display(board: GameBoard) -> str:
    """Return the game board as it is displayed (US1 to US5)."""
    return noughts.NARRATIVE.draw(board)


def next_move(board: GameBoard, player: str) -> noughts.Board:
    """Take the current board and the player that moves; return a new board with a random move (US6)."""
    return noughts.next_move(board, noughts.Mark(player))


def switch_player(player: str) -> str:
    """Take the current player, and determine the next one (US7)."""
    return noughts.Mark(player).other


def show_result(winner: str) -> str:
    """Return the result for the winner, or for "" after a draw (US7)."""
    return noughts.NARRATIVE.result(winner)


def game_over(board: GameBoard) -> tuple[bool, str]:
    """Take the current board; return whether the game is over, and the winner or "" (US8)."""
    return noughts.game_over(board)


def play(interval: float) -> None:
    """Play one game with a move every so many seconds; player X starts."""
    board, player = noughts.Board(), "X"
    while True:
        board = next_move(board, player)
        print(f"Player {player}:\n{display(board)}", flush=True)
        is_over, winner = game_over(board)
        if is_over:
            break
        player = switch_player(player)
        time.sleep(interval)
    print(show_result(winner))


def main() -> None:
    """Read the interval, and play."""
    parser = ArgumentParser(description="Two bots play tic-tac-toe at random.")
    parser.add_argument("--interval", type=float, default=2, help="seconds between moves (%(default)s)")
    interval = parser.parse_args().interval
    if not 0 <= interval <= 3600:
        parser.error(f"--interval is 0 to 3600 seconds, not {interval}")
    play(interval)


if __name__ == "__main__":
    signal(SIGPIPE, SIG_DFL)  # a reader may leave
    try:
        main()
    except KeyboardInterrupt:
        print("\nGoodbye!")
        sys.exit(130)
