"""The events: what happened goes in as the document writes it, and the events that follow come out.

    python examples/documents/events.py gameCreated "playerPlacedToken(0,0,X)"

Without arguments it reads lines, the document's own too, such as `When  [ playerPlacedToken(0,2,X) ]`.
`Given` and `gameCreated` start a new game. Where a move is missing, a harmless one is put in.
"""

import re
import sys
from signal import SIG_DFL, SIGPIPE, signal

from noughts import Cell, CreateGame, Event, Game, Mark, PlaceToken, decide, events, fold, replay

NAMES = {
    *("gameCreated", "gameReady", "gameWon", "gameLost", "gameDraw", "gameCompleted", "gamePlacedCount"),
    *("playerActive", "playerPlacedToken", "playerNotifyIllegalMove"),
}
Move = tuple[Mark, Cell | None]
EVENT = re.compile(r"(\w+)(?:\(([^()]*)\))?")


def read(text: str) -> list[tuple[str, str]]:
    """Return the names of the events in a text, each with its arguments."""
    found = [(name, inside) for name, inside in EVENT.findall(text) if name not in ("Given", "When")]
    if EVENT.sub("", text).strip("[],| \t\r\n") or not {name for name, _ in found} <= NAMES:
        raise ValueError("Write events such as gameCreated or playerPlacedToken(0,2,X).")
    return [(name, re.sub(r"player|\s", "", inside)) for name, inside in found]


def following(history: list[tuple[str, str]]) -> tuple[Event, ...]:
    """Return the events that follow the last one of a game."""
    match history:
        case [*_, ("gameCreated", _)]:
            return decide(None, CreateGame())[1:]
        case [*_, ("playerPlacedToken", _)]:
            moves = [read_token(inside) for name, inside in history if name == "playerPlacedToken"]
            before, _ = play(moves[:-1], moves[:-1])
            # A harmless move leaves the square of the last token free, unless the game was over by then.
            _, happened = play(moves, moves[:-1] if before.is_over else moves)
            return happened[1:] or happened  # of an illegal move there is only one event
        case [*_, ("gameWon" | "gameLost" | "gameDraw", _)]:
            return (events.GameCompleted(),)
        case [*_, ("gamePlacedCount", "9"), ("gameCompleted", "false")]:
            return events.GameDraw(), events.GameCompleted()
    return ()


def play(moves: list[Move], named: list[Move]) -> tuple[Game, tuple[Event, ...]]:
    """Place tokens, and harmless ones between them; return the game and the events of the last one."""
    game, happened = replay(decide(None, CreateGame())), tuple[Event, ...]()
    for mark, cell in moves:
        if game.active is mark.other:
            game = fold(decide(game, PlaceToken(mark.other, harmless(game, named))), game)
        happened = decide(game, PlaceToken(mark, harmless(game, named) if cell is None else cell))
        game = fold(happened, game)
    return game, happened


def read_token(token: str) -> Move:
    """Return the player of a token, and its square if it has one."""
    if not (found := re.fullmatch(r"(?:([0-2]),([0-2]),)?([XO])", token)):
        raise ValueError("A token has a row and a column from 0 to 2, and a player, as in (0,2,X).")
    row, column, player = found.groups()
    return Mark(player), None if row is None else 3 * int(row) + int(column)


def harmless(game: Game, named: list[Move]) -> Cell:
    """Return a free square that nobody names, and that does not end the game."""
    for cell in sorted({*game.board.free_cells} - {cell for _, cell in named}):
        if game.is_over or not game.board.place(cell).is_over:
            return cell
    raise ValueError("No harmless move is left to put in: write the tokens of both players.")


def main() -> None:
    """Answer each line with the events that follow the last one in it."""
    history: list[tuple[str, str]] = []
    typed = (str(line, errors="replace") for line in sys.stdin.buffer) if sys.stdin else ()
    for line in sys.argv[1:] or typed:
        if not line.strip() or line.startswith("Then"):
            continue
        try:
            so_far = ([] if re.search("Given|gameCreated", line) else history) + read(line)
            follow = following(so_far)
        except ValueError as error:
            print(error)
            continue
        if not line.startswith("Given"):
            print(f"Then  [ {', '.join(map(str, follow))} ]", flush=True)
        is_illegal = any(isinstance(event, events.PlayerNotifyIllegalMove) for event in follow)
        history = so_far[:-1] if is_illegal else so_far


if __name__ == "__main__":
    signal(SIGPIPE, SIG_DFL)  # a reader may leave
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
