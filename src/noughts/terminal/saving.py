"""Where the games of this terminal are kept, and the record of the one on the table."""

from __future__ import annotations

from pathlib import Path

from noughts.core.errors import StaleVersion, StoreUnavailable
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.terminal.table import new_game, opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping

    from noughts.core.board import Mark
    from noughts.core.game import Command, Game
    from noughts.core.player import Player
    from noughts.service import Answer, Service

MEMORY = "memory:"


def store_url(asked: str | None, environment: Mapping[str, str]) -> str:
    """Return the store that was asked for, or the one in the user's data folder.

    >>> store_url(None, {"HOME": "/home/bob"})
    'sqlite:/home/bob/.local/share/noughts/games.sqlite'
    """
    if asked is not None:
        return asked
    return environment.get("NOUGHTS_STORE") or f"sqlite:{data_folder(environment)}/games.sqlite"


def keeps_games(options: Namespace, environment: Mapping[str, str]) -> bool:
    """Tell whether games, and what is learned from them, are to be found again later."""
    is_kept = not getattr(options, "no_save", False)
    return is_kept and store_url(options.store, environment) != MEMORY


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder that the XDG base directory specification names; a relative one is no folder."""
    data, home = (Path(environment.get(name, "")) for name in ("XDG_DATA_HOME", "HOME"))
    for folder in (data, home / ".local" / "share"):
        if folder.is_absolute():
            return folder / "noughts"
    raise StoreUnavailable("there is no folder to save games in: set HOME, or say --store or --no-save")


class Notebook:
    """The record of the game on the table. Nothing is written before there is a move to write."""

    def __init__(self, service: Service, *, lasts: bool) -> None:
        self._service = service
        self._lasts = lasts
        self._game = ""
        self._version = 0
        self._unwritten: list[Command] = []

    @property
    def bookmark(self) -> str | None:
        """What to call the game by later, if it will be there later."""
        return self._service.short(self._game) if self._lasts and self._version else None

    @property
    def bookmark_of_what_was_seen(self) -> str | None:
        """The same, without a look at a store that may not answer."""
        return self._game if self._lasts and self._version else None

    def begin(self, first: Mark, players: Iterable[Player]) -> Game:
        """Start a new page."""
        seated = tuple(players)
        self._game, self._version = self._service.new_id(), 0
        self._unwritten = opening(first, seated)
        return new_game(first, seated)

    def open(self, game: str) -> Answer:
        """Go on where a game was left."""
        found = self._service.look(game)
        self._game, self._version, self._unwritten = game, found.version, []
        return found

    def write(self, command: Command) -> Answer:
        """Record a command that is right in the game as it was last seen, and return what it led to."""
        while self._unwritten:
            self._send(self._unwritten[0])
            del self._unwritten[0]
        return self._send(command)

    def _send(self, command: Command) -> Answer:
        answer = self._service.handle(self._game, command, version=self._version)
        if isinstance(answer.events[0], PlayerNotifyIllegalMove):
            raise StaleVersion("the move was right when it was made, and is not any more")
        self._version = answer.version
        return answer

    def look_again(self) -> Answer:
        """Return the game after somebody else has played on, and the events since it was last seen."""
        seen = self._version
        found = self.open(self._game)
        return found.replace(events=found.events[seen:])
