"""The algorithm: the numbered steps of the document's second pass, for two people who take turns.

Run it with `python examples/documents/algorithm.py`; with `--all` it plays all games there are instead.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from signal import SIG_DFL, SIGPIPE, signal

from noughts import KATA, Board


def ask(question: str) -> str:
    """Return what is typed in reply."""
    print(question)
    try:
        return input().strip()
    except UnicodeDecodeError:  # bytes that are not text
        return ""


def mark_empty_cell(board: Board) -> Board:
    """Return the board after the current player has marked an empty cell."""
    empty = [str(cell + 1) for cell in board.free_cells]
    while True:
        cell = ask(f"{board.turn}, mark an empty cell: {', '.join(empty)}")
        if cell in empty:
            return board.place(int(cell) - 1)
        print("That is not an empty cell.")


def outcome(board: Board) -> str:
    """Return how the game has ended, or "" if it is still on."""
    if board.count > 4 and board.winner:  # 3. we check if we have a winner, when turn > 4
        return f"{board.winner} wins"  # 4. if yes, declare a winner and end the game
    if not board.free_cells:  # 5. if no empty cells left and no winner,
        return "it is a tie"  # declare a tie and end the game
    return ""


def play() -> None:
    """Play one game."""
    board = Board()  # 1. start game
    while True:
        print(KATA.draw(board))
        board = mark_empty_cell(board)  # 2. current player marks an empty cell
        if ended := outcome(board):  # 3 to 5
            print(KATA.draw(board))
            print(f"Game over: {ended}!")
            return
        # 6. flip to other player, return to 2: the board knows whose turn it is


def play_all(board: Board, ends: Counter[str]) -> None:
    """Play every game that goes on from a board, and count how they end."""
    if ended := outcome(board):
        ends[ended] += 1
        return
    for cell in board.free_cells:
        play_all(board.place(cell), ends)


def main() -> None:
    """Play until nobody wants a new game, or test all possibilities."""
    parser = ArgumentParser(description="Tic-tac-toe in six steps, for two people.")
    parser.add_argument("--all", action="store_true", help="play all games there are, and count them")
    if parser.parse_args().all:
        ends: Counter[str] = Counter()
        play_all(Board(), ends)
        for ended, games in ends.most_common():
            print(f"{games:>7,} games: {ended}")
        print(f"{ends.total():,} games in all")
        return
    play()
    while ask("Start a new game? (y/n)").lower() in ("y", "yes"):
        play()


if __name__ == "__main__":
    signal(SIGPIPE, SIG_DFL)  # a reader may leave
    try:
        main()
    except (EOFError, RuntimeError):  # the input has ended, or there is none
        print("Goodbye!")
    except KeyboardInterrupt:
        print("\nGoodbye!")
        sys.exit(130)
