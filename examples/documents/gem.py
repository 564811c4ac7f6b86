"""The gem: Cell, Player, Board and Game, on the rules of noughts; bob and frank play on the command line.

Run it with `python examples/documents/gem.py`. Only the number of a free cell, 1 to 9, is a move.
"""

import random
from dataclasses import dataclass, field
from signal import SIG_DFL, SIGPIPE, signal

from noughts import game_over


@dataclass
class Cell:
    """A cell of the grid, which keeps track of its value: "X", "O" or ""."""

    value: str = ""


class Player:
    """Somebody with a name and a color, "X" or "O"."""

    def __init__(self, details: dict[str, str]) -> None:
        if missing := [key for key in ("color", "name") if key not in details]:
            raise ValueError(f"a player is made from a color and a name: {' and '.join(missing)} missing")
        self.color, self.name = details["color"], details["name"]


@dataclass
class Board:
    """A grid of three rows with three cells each; x and y are column and row from the top left."""

    grid: list[list[Cell]] = field(default_factory=lambda: [[Cell() for _ in range(3)] for _ in range(3)])

    def get_cell(self, x: int, y: int) -> Cell:
        return self.grid[y][x]

    def set_cell(self, x: int, y: int, value: str) -> None:
        if taken := self.get_cell(x, y).value:
            raise ValueError(f"the cell is taken by {taken}")
        self.get_cell(x, y).value = value

    def game_over(self) -> str | bool:
        """Return "winner", "draw", or False while the game is still being played."""
        is_over, winner = game_over([[cell.value for cell in row] for row in self.grid])
        return is_over and ("winner" if winner else "draw")

    def formatted_grid(self) -> None:
        print(*(" ".join(cell.value or "_" for cell in row) for row in self.grid), sep="\n")


class Game:
    """Two players and a board; one of the players is randomly the first."""

    def __init__(self, players: list[Player], board: Board | None = None) -> None:
        self.board = board or Board()
        self.current_player, self.other_player = random.sample(players, 2)

    def switch_players(self) -> None:
        self.current_player, self.other_player = self.other_player, self.current_player

    def solicit_move(self) -> str:
        return f"{self.current_player.name}: Enter a number between 1 and 9 to make your move"

    def get_move(self, human_move: str | None = None) -> list[int]:
        number = (input() if human_move is None else human_move).strip()
        if number not in [*"123456789"]:
            raise ValueError(f"{number!r} is not a number between 1 and 9")
        return [(int(number) - 1) % 3, (int(number) - 1) // 3]

    def game_over_message(self) -> str:
        messages = {"winner": f"{self.current_player.name} won!", "draw": "The game ended in a tie"}
        return messages.get(str(self.board.game_over()), "")

    def play(self) -> None:
        print(f"{self.current_player.name} has randomly been selected as the first player")
        while True:
            self.board.formatted_grid()
            print(f"\n{self.solicit_move()}")
            try:
                x, y = self.get_move()
                self.board.set_cell(x, y, self.current_player.color)
            except ValueError as refusal:
                print(f"That is not a move you can make: {refusal}.")
                continue
            if message := self.game_over_message():
                break
            self.switch_players()
        print(message)
        self.board.formatted_grid()


if __name__ == "__main__":
    signal(SIGPIPE, SIG_DFL)  # a reader may leave
    try:
        print("Welcome to tic tac toe")
        Game([Player({"color": "X", "name": "bob"}), Player({"color": "O", "name": "frank"})]).play()
    except (EOFError, RuntimeError, KeyboardInterrupt) as leaving:  # RuntimeError: no input
        print("\nGoodbye!")
        raise SystemExit(130 if isinstance(leaving, KeyboardInterrupt) else 0) from None
