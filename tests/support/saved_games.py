"""Games that the terminal has saved: where, and how they came there."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

from noughts import (
    CreateGame,
    EventStore,
    JoinGame,
    Mark,
    O,
    PlaceToken,
    Resign,
    Service,
    TakeBack,
    X,
    open_store,
)
from noughts.store.verify import verify
from support.command import environment

NOW = 1_700_000_000_000
"""When games are saved here: 2023-11-14 22:13 in Greenwich."""

DRAW = "123546879"
X_WINS = "14253"


def url(folder: Path) -> str:
    """Return the store that the terminal keeps in that data folder."""
    return f"sqlite:{file(folder)}"


def file(folder: Path) -> Path:
    """Return the file that the terminal keeps its games in, in that data folder."""
    return folder / "noughts" / "games.sqlite"


def saving(folder: Path, **changes: str) -> dict[str, str]:
    """Return an environment in which the user's data folder is that one, and the time is Greenwich's."""
    places = {"XDG_DATA_HOME": str(folder), "HOME": str(folder), "NOUGHTS_STORE": "", "TZ": "UTC"}
    return environment(PYTHONUNBUFFERED="", **{**places, **changes})


def save(folder: Path, game: str, *said: str, x: str = "", o: str = "", at: int = NOW) -> None:
    """Save a game in which this was said: cells from 1 to 9, `undo` and `resign`."""
    with open_store(url(folder)) as store:
        play(store, game, *said, x=x, o=o, at=at)


def play(store: EventStore, game: str, *said: str, x: str = "", o: str = "", at: int = NOW) -> None:
    """Play a game into a store, or play on in one that is there."""
    keys = count()
    service = Service(
        store, clock=lambda: at, new_id=lambda: f"{at}-{next(keys)}-{len(store.read(game))}"
    )
    if not store.read(game):
        service.handle(game, CreateGame())
    for mark, name in ((X, x), (O, o)):
        if name:
            service.handle(game, JoinGame(mark, name))
    for words in said:
        mark = service.look(game).game.board.turn
        service.handle(game, _command(words, mark))


def _command(words: str, mark: Mark) -> PlaceToken | TakeBack | Resign:
    if words == "undo":
        return TakeBack(mark.other)
    return Resign(mark) if words == "resign" else PlaceToken(mark, int(words) - 1)


def change(folder: Path, *statements: str, values: Sequence[object] = ()) -> None:
    """Change a store with SQL alone."""
    with closing(sqlite3.connect(file(folder), isolation_level=None)) as database:
        for statement in statements:
            assert database.execute(statement, values).rowcount, "nothing has changed"


def digits(folder: Path) -> list[str]:
    """Return the moves of all saved games, the newest game first, after a look at every record."""
    with open_store(url(folder), create=False) as store:
        verify(store)
        return [
            "".join(str(cell + 1) for cell in summary.game.moves)
            for summary in store.games(limit=1000)
            if summary.game
        ]


def ids(folder: Path) -> list[str]:
    """Return the ids of all saved games, the newest first."""
    with open_store(url(folder), create=False) as store:
        return [summary.id for summary in store.games(limit=1000)]


def drawn(moves: str, end: str = "\n") -> str:
    """Draw the board after these moves, X's first, as `noughts play` does."""
    signs = list("123456789")
    for number, cell in enumerate(moves):
        signs[int(cell) - 1] = "XO"[number % 2]
    rows = ["|".join(signs[row : row + 3]) for row in (0, 3, 6)]
    return f"{end}-+-+-{end}".join(rows) + end


def asked(moves: str) -> str:
    return f"Player {'XO'[len(moves) % 2]}, enter a position from 1 to 9:"
