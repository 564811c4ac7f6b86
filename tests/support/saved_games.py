"""Creates, changes and reads the saved games of the terminal."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

from noughts import (
    Command,
    CreateGame,
    JoinGame,
    Mark,
    O,
    PlaceToken,
    Resign,
    Service,
    Store,
    TakeBack,
    X,
    open_store,
)
from noughts.store.rows import nothing
from noughts.store.verify import verify
from support.command import environment

NOW = 1_700_000_000_000
"""When games are saved here: 2023-11-14 22:13 UTC."""

DRAW = "123546879"
X_WINS = "14253"


def url(folder: Path) -> str:
    """Return the URL of the terminal's store in a data folder."""
    return f"sqlite:{file(folder)}"


def file(folder: Path) -> Path:
    """Return the file of the terminal's store in a data folder."""
    return folder / "noughts" / "saved.sqlite"


def saving(folder: Path, **changes: str) -> dict[str, str]:
    """Return an environment with this data folder, and UTC as the time zone."""
    places = {"XDG_DATA_HOME": str(folder), "HOME": str(folder), "NOUGHTS_STORE": "", "TZ": "UTC"}
    return environment(PYTHONUNBUFFERED="", **{**places, **changes})


def save(folder: Path, game: str, *moves: str, x: str = "", o: str = "", at: int = NOW) -> None:
    """Save a game of these moves: cells from 1 to 9, `undo` and `resign`."""
    with open_store(url(folder)) as store:
        play(store, game, *moves, x=x, o=o, at=at)


def play(store: Store, game: str, *moves: str, x: str = "", o: str = "", at: int = NOW) -> None:
    """Record a new game in a store, or continue one."""
    stored, keys = store.look(game) or nothing(game), count()
    version = stored.version
    service = Service(store, clock=lambda: at, new_id=lambda: f"{at}-{version}-{next(keys)}")
    opening: list[Command] = [] if version else [CreateGame()]
    opening += [JoinGame(mark, name) for mark, name in ((X, x), (O, o)) if name]
    for command in opening:
        _, stored = service.record(stored, command)
    for move in moves:
        _, stored = service.record(stored, _command(move, stored.game.board.turn))


def _command(move: str, mark: Mark) -> PlaceToken | TakeBack | Resign:
    if move == "undo":
        return TakeBack(mark.other)
    return Resign(mark) if move == "resign" else PlaceToken(mark, int(move) - 1)


def change(folder: Path, *statements: str, values: Sequence[object] = ()) -> None:
    with closing(sqlite3.connect(file(folder), isolation_level=None)) as database:
        for statement in statements:
            assert database.execute(statement, values).rowcount, "no row was changed"


def digits(folder: Path) -> list[str]:
    """Verify the store, and return the moves of all saved games, newest first."""
    with open_store(url(folder), create=False) as store:
        verify(store)
        return [
            "".join(str(cell + 1) for cell in summary.game.moves)
            for summary in store.games(limit=1000)
            if summary.game
        ]


def ids(folder: Path) -> list[str]:
    """Return the ids of all saved games, newest first."""
    with open_store(url(folder), create=False) as store:
        return [summary.id for summary in store.games(limit=1000)]


def drawn(moves: str, end: str = "\n") -> str:
    """Draw the board after these moves as `noughts play` does; X starts."""
    signs = list("123456789")
    for number, cell in enumerate(moves):
        signs[int(cell) - 1] = "XO"[number % 2]
    rows = ["|".join(signs[row : row + 3]) for row in (0, 3, 6)]
    return f"{end}-+-+-{end}".join(rows) + end


def asked(moves: str) -> str:
    return f"Player {'XO'[len(moves) % 2]}, enter a position from 1 to 9:"
