"""What a token leads to, worked out once for each kind: there are few, and a server sees all of them.

It is what `decide` tells, and nothing else: a test holds all positions against it.
"""

from __future__ import annotations

from typing import NamedTuple

from noughts.core.errors import IllegalMove
from noughts.core.game import Game, PlaceToken, decide
from noughts.store.appends import Append, serialize
from noughts.web.live import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from noughts.core.board import Cell, Mark
    from noughts.core.events import Event
    from noughts.store.appends import CatalogueChange

    Kind: TypeAlias = tuple[Cell, Mark, int, Mark | None]
    """The cell, whose turn it would be next, how many cells are left, and who has won."""


class Placed(NamedTuple):
    """What a token leads to."""

    events: tuple[Event, ...]
    lines: tuple[str, ...]
    """Each event as JSON."""
    text: str
    """The record's text."""
    change: CatalogueChange
    texts: bytes
    """The same events as items of a JSON array."""
    frames: bytes
    """The same events as server-sent events, except for their versions."""

    def append(self, game: str, version: int, key: str, at: int) -> Append:
        """Prepare the append to a game at that version."""
        return Append(game, version, self.text, key=key, at=at, change=self.change)

    def kept(self, key: str) -> list[Kept]:
        """Return the events as a live game keeps them."""
        return [Kept(key, line, event) for line, event in zip(self.lines, self.events, strict=True)]

    def frame(self, before: int) -> bytes:
        """Return the events as they are sent to those who follow, after that version."""
        return self.frames % (*range(before + 1, before + 1 + len(self.events)),)


_known: dict[Kind, Placed] = {}


def placed(game: Game, cell: Cell) -> Placed | None:
    """Return what a token of the mark to move leads to, None if it may not be placed."""
    if game.is_over:
        return None
    try:
        board = game.board.place(cell)
    except IllegalMove:
        return None
    kind = cell, board.turn, len(board.free_cells), board.winner
    return _known.get(kind) or _known.setdefault(kind, _work_out(game, cell))


def after(game: Game, cell: Cell) -> Game:
    """Return the game with a token placed, which may be."""
    board = game.board.place(cell)
    moves = (*game.moves, cell)
    # As `game.replace` would, in half the time.
    return Game(board, moves, game.players, game.is_ready, board.winner, game.resigned, board.is_over)


def _work_out(game: Game, cell: Cell) -> Placed:
    events = decide(game, PlaceToken(game.board.turn, cell))
    text, change = serialize(events)
    lines = tuple(text.split("\n"))
    texts = [line.encode() for line in lines]
    frames = b"".join(b"id: %%d\ndata: %b\n\n" % line.replace(b"%", b"%%") for line in texts)
    return Placed(events, lines, text, change, b",".join(texts), frames)
