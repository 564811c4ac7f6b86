"""Bob and frank play tic-tac-toe, using only the public names of noughts.

Run it with `python examples/bob_and_frank.py`, and build your own game from it.
"""

import random
import sys

from noughts import GEM, Board, NoughtsError, O, Player, X, parse_cell

BOB, FRANK = Player(name="bob", mark=X), Player(name="frank", mark=O)


def next_board(board: Board, player: Player) -> Board:
    """Ask until the player names a free cell, and return the next board."""
    while True:
        print(GEM.say("game.ask", player=player.name))
        try:
            return board.place(parse_cell(input()), player.mark)
        except (NoughtsError, UnicodeError) as refusal:  # the board is unchanged
            print(f"That cannot be played: {refusal}.")


def play() -> None:
    """Play one game, with a random first player."""
    print("Welcome to tic tac toe")
    player, other = random.sample([BOB, FRANK], 2)
    print(GEM.say("game.starts_at_random", player=player.name))
    board = Board(first=player.mark)
    while True:
        print(GEM.draw(board), end="\n\n")
        board = next_board(board, player)
        if board.is_over:
            break
        player, other = other, player
    print(GEM.result(board.winner, player.name))
    print(GEM.draw(board))


def main() -> int:
    """Play, and exit cleanly when a player leaves."""
    try:
        play()
    except EOFError:
        print("Goodbye!")
    except KeyboardInterrupt:
        print("\nGoodbye!")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
