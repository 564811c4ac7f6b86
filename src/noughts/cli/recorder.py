"""Where the games of this terminal are kept, and the record of the one on the table."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping

from noughts.cli.opening import new_game, opening, opening_events
from noughts.core.board import Mark
from noughts.core.errors import printable
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Command, Game
from noughts.core.player import Player
from noughts.service import Answer, Service
from noughts.store.base import EventStore
from noughts.store.errors import OldStore, StaleVersion
from noughts.store.urls import data_folder, default_store, open_store

MEMORY = "memory:"


def store_url(asked: str | None, environment: Mapping[str, str]) -> str:
    """Return the store that was asked for, or the one in the user's data folder.

    >>> store_url(None, {"HOME": "/home/bob"})
    'sqlite:/home/bob/.local/share/noughts/games.sqlite'
    """
    if asked is not None:
        return asked
    return default_store(environment)


def open_saved(asked: str | None, environment: Mapping[str, str], *, create: bool = True) -> EventStore:
    """Open the store of saved games.

    If it is the one in the user's data folder, and in a format that is no longer read, it is set aside.
    """
    url, checkpoint_file = store_url(asked, environment), environment.get("NOUGHTS_CHECKPOINT_FILE", "")
    try:
        return open_store(url, create=create, checkpoint_file=checkpoint_file)
    except OldStore:
        if asked is not None or environment.get("NOUGHTS_STORE"):
            raise
    from noughts.cli.old_store import set_aside  # noqa: PLC0415 - almost never needed

    file = data_folder(environment) / "games.sqlite"
    if (moved := set_aside(file)) and sys.stderr:
        sys.stderr.write(
            f"noughts: {printable(str(file))} was made by an older noughts: it is now {moved.name}, "
            "and a new one is started (to bring its games over, export them with the version that wrote "
            "them, then run noughts store import)\n"
        )
    return open_store(url)


def keeps_games(options: Namespace, environment: Mapping[str, str]) -> bool:
    """Tell whether games, and what is learned from them, are to be found again later."""
    is_kept = not getattr(options, "no_save", False)
    return is_kept and store_url(options.store, environment) != MEMORY


class Notebook:
    """The record of the game on the table. Nothing is recorded before the first move."""

    def __init__(self, service: Service, *, lasts: bool) -> None:
        self._service = service
        self._lasts = lasts
        self._game = ""
        self._version = 0
        self._opening: list[Command] = []
        self._opening_events = 0

    @property
    def bookmark(self) -> str | None:
        """What to call the game by later, if it will be there later."""
        return self._service.short(self._game) if self._lasts and self._version else None

    @property
    def bookmark_of_what_was_seen(self) -> str | None:
        """The same, without reading a store that may not answer."""
        return self._game if self._lasts and self._version else None

    def begin(self, first: Mark, players: Iterable[Player]) -> Game:
        """Start a new game."""
        seated = tuple(players)
        self._game, self._version = self._service.new_id(), 0
        self._opening = opening(first, seated)
        self._opening_events = len(opening_events(first, seated))
        return new_game(first, seated)

    def open(self, game: str) -> Answer:
        """Continue a game."""
        found = self._service.look(game)
        self._game, self._version = game, found.version
        return found

    def write(self, command: Command) -> Answer:
        """Record a command that is legal in the game as it was last seen, and return what it led to.

        The first one is recorded together with the opening: no game is saved without its players.
        """
        if self._version:
            answer = self._service.handle(self._game, command, version=self._version)
        else:
            answer = self._service.start(self._game, [*self._opening, command])
            answer = answer.replace(events=answer.events[self._opening_events :])
        if isinstance(answer.events[0], PlayerNotifyIllegalMove):
            raise StaleVersion("the move was right when it was made, and is not any more")
        self._version = answer.version
        return answer

    def look_again(self) -> Answer:
        """Return the game after somebody else has played on, and the events since it was last seen."""
        seen = self._version
        found = self.open(self._game)
        return found.replace(events=found.events[seen:])
