"""What a token leads to, worked out once for each position: there are few, and a server sees all of them.

It is what `decide` tells, and nothing else: a test holds all positions against it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from noughts.core.board import Board, Mark
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Game, PlaceToken, decide, fold
from noughts.store.ledger import written_down

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.core.events import Event
    from noughts.store.ledger import Change, Entry


class Placed(NamedTuple):
    """What a token leads to."""

    events: tuple[Event, ...]
    written: tuple[tuple[str, Change | None], ...]
    """Each event as text, and what the list of games needs of it."""
    texts: bytes
    """The same texts, in a row."""
    board: Board
    winner: Mark | None
    is_over: bool

    def entries(self, key: str, at: int) -> list[Entry]:
        """Return the events, ready for the record."""
        return [(at, key, text, change) for text, change in self.written]

    def after(self, game: Game, cell: int) -> Game:
        """Return the game with the token placed."""
        return game.replace(
            board=self.board, moves=(*game.moves, cell), winner=self.winner, is_over=self.is_over
        )

    def frame(self, before: int) -> bytes:
        """Return the events as they are sent to those who follow, after that version."""
        return b"".join(
            [
                b"id: %d\ndata: %b\n\n" % (version, text.encode())
                for version, (text, _) in enumerate(self.written, before + 1)
            ]
        )


def placed(game: Game, cell: int) -> Placed | None:
    """Return what a token of the mark to move leads to, None if it may not be placed."""
    board = game.board
    return None if game.is_over else _placed(board.x, board.o, board.first is Mark.X, cell)


@lru_cache(maxsize=8192)
def _placed(x: int, o: int, x_first: bool, cell: int) -> Placed | None:  # noqa: FBT001 - called in one place
    game = Game.at(Board(x, o, Mark.X if x_first else Mark.O))
    events = decide(game, PlaceToken(game.board.turn, cell))
    if isinstance(events[0], PlayerNotifyIllegalMove):
        return None
    after = fold(events, game)
    written = tuple(written_down(event) for event in events)
    texts = ",".join(text for text, _ in written).encode()
    return Placed(events, written, texts, after.board, after.winner, after.is_over)
